import { client } from '../../api/client.ts';
import { download } from './download.ts';

interface ReportQuery {
  start_date: string;
  end_date?: string;
  detailed?: boolean;
}

/** Requests a report of a USG profile, waits until the server has made it, and saves it. @returns the file's name */
export async function makeReport(id: number, query: ReportQuery): Promise<string> {
  const params = { path: { usg_profile_id: id }, query };
  const { data } = await client.GET('/usg-profiles/{usg_profile_id}/report', { params });
  const path = data.id === null ? data.result_text : await reportOf(data.id);
  const file = await client.GET('/usg-profiles/blob', { params: { query: { path } } });
  download(path, (file.data as { file_content: string }).file_content, 'text/csv');
  return path;
}

async function reportOf(activityId: number): Promise<string> {
  const { activity_status, result_text } = await client.waitFor(activityId);
  if (activity_status !== 'succeeded' || !result_text) throw new Error(result_text || 'The report could not be made.');
  return result_text;
}
