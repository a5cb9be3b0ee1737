import type { OpenFile } from '../../services/common/ports.ts';
import type { UsgReportAnswer, UsgReportRequest } from '../../services/compliance/reports/usg-reports.service.ts';
import { wireActivity } from '../activities/activities.wire.ts';

export function readUsgReportRequest(
  profileId: number,
  query: Record<string, unknown>,
  traceparent: string | null,
): UsgReportRequest {
  const { start_date, end_date, detailed } = query as { start_date: string; end_date?: string; detailed?: boolean };
  return { profileId, startDate: start_date, endDate: end_date ?? null, detailed: detailed ?? false, traceparent };
}

/** The answer to a question for a report; only here its activity reads `in-progress`. @see docs/api-conventions.md#activity-statuses */
export function wireUsgReport(answer: UsgReportAnswer) {
  return 'path' in answer
    ? { id: null, result_text: answer.path, activity_status: 'succeeded', result_code: 0 }
    : { ...wireActivity(answer.activity), activity_status: 'in-progress' };
}

/** `{file_content}` as text, a piece at a time: files may be longer than any string. */
export async function* wireFile(file: OpenFile): AsyncGenerator<string> {
  yield '{"file_content":"';
  for await (const piece of file.pieces()) yield JSON.stringify(piece.toString()).slice(1, -1);
  yield '"}';
}
