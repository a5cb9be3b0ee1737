import type { OpenFile } from '../../services/common/ports.ts';
import type { UsgReportResponse, UsgReportRequest } from '../../services/compliance/reports/usg-reports.service.ts';
import { toActivityResponse } from '../activities/activities.wire.ts';

export function readUsgReportRequest(
  profileId: number,
  query: Record<string, unknown>,
  traceparent: string | null,
): UsgReportRequest {
  const { start_date, end_date, detailed } = query as { start_date: string; end_date?: string; detailed?: boolean };
  return { profileId, startDate: start_date, endDate: end_date ?? null, detailed: detailed ?? false, traceparent };
}

/** Only here the activity's status is `in-progress`. @see docs/api-conventions.md#activity-statuses */
export function toUsgReportResponse(answer: UsgReportResponse) {
  return 'path' in answer
    ? { id: null, result_text: answer.path, activity_status: 'succeeded', result_code: 0 }
    : { ...toActivityResponse(answer.activity), activity_status: 'in-progress' };
}

/** In pieces, because files may be longer than the longest string. */
export async function* streamFileAsJson(file: OpenFile): AsyncGenerator<string> {
  yield '{"file_content":"';
  for await (const piece of file.chunks()) yield JSON.stringify(piece.toString()).slice(1, -1);
  yield '"}';
}
