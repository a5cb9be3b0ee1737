import type { Request } from 'express';
import type { OpenFile } from '../../services/common/ports.ts';
import type { UsgReportRequest, UsgReportResponse } from '../../services/compliance/reports/usg-reports.service.ts';
import type { Services } from '../../services/setup/services.ts';
import { toActivityResponse } from '../activities/activity-responses.ts';
import type { Handlers } from '../http/handler.ts';
import { traceparentOf } from '../http/tracing.ts';

export function usgReportsRoutes(deps: { services: Pick<Services, 'usgReports'> }): Handlers {
  const { usgReports } = deps.services;
  return {
    async getUsgProfileReport({ caller, params, query, request }) {
      const profileId = params['usg_profile_id'] as number;
      const report = await usgReports.request(caller, readUsgReportRequest(profileId, query, traceparentOf(request)));
      return { body: toUsgReportResponse(report) };
    },
    async getUsgProfileBlob({ caller, query, request }) {
      const file = await usgReports.open(caller, query['path'] as string);
      const stream = wantsText(request)
        ? { type: 'text/csv; charset=utf-8', pieces: file.chunks() }
        : { type: 'application/json; charset=utf-8', pieces: streamFileAsJson(file) };
      return { stream, headers: { Vary: 'Accept' } };
    },
  };
}

function wantsText(request: Request): boolean {
  return request.accepts(['application/json', 'text/csv']) === 'text/csv';
}

function readUsgReportRequest(
  profileId: number,
  query: Record<string, unknown>,
  traceparent: string | null,
): UsgReportRequest {
  const { start_date, end_date, detailed } = query as { start_date: string; end_date?: string; detailed?: boolean };
  return { profileId, startDate: start_date, endDate: end_date ?? null, detailed: detailed ?? false, traceparent };
}

/** Only here the activity's status is `in-progress`. @see docs/api-conventions.md#activity-statuses */
function toUsgReportResponse(report: UsgReportResponse) {
  return 'path' in report
    ? { id: null, result_text: report.path, activity_status: 'succeeded', result_code: 0 }
    : { ...toActivityResponse(report.activity), activity_status: 'in-progress' };
}

/** In pieces, because files may be longer than the longest string. */
async function* streamFileAsJson(file: OpenFile): AsyncGenerator<string> {
  yield '{"file_content":"';
  for await (const piece of file.chunks()) yield JSON.stringify(piece.toString()).slice(1, -1);
  yield '"}';
}
