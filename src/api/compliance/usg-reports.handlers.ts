import { Readable } from 'node:stream';
import type { OpenFile } from '../../services/common/ports.ts';
import type { UsgReportRequest, UsgReportResponse } from '../../services/compliance/reports/usg-reports.service.ts';
import { toActivityResponse } from '../activities/activity-responses.ts';
import type { Handlers, RequestContext, Schemas, Services } from '../http/handler.ts';

export function usgReportsHandlers({ usgReports }: Services) {
  return {
    getUsgProfileReport: async (context) =>
      toUsgReportResponse(await usgReports.request(context.caller, readUsgReportRequest(context))),
    getUsgProfileBlob: async ({ caller, query, request, response }) => {
      const file = await usgReports.open(caller, query.path);
      const asText = request.accepts(['application/json', 'text/csv']) === 'text/csv';
      response.vary('Accept').type(asText ? 'text/csv; charset=utf-8' : 'application/json; charset=utf-8');
      return Readable.from(asText ? file.chunks() : streamFileAsJson(file));
    },
  } satisfies Handlers;
}

function readUsgReportRequest({ params, query, traceparent }: RequestContext<'getUsgProfileReport'>): UsgReportRequest {
  const { start_date, end_date, detailed } = query;
  const profileId = params.usg_profile_id;
  return { profileId, startDate: start_date, endDate: end_date ?? null, detailed: detailed ?? false, traceparent };
}

/** Only here the activity's status is `in-progress`. @see docs/api-conventions.md#activity-statuses */
function toUsgReportResponse(report: UsgReportResponse): Schemas['UsgReportFound'] | Schemas['UsgReportStarted'] {
  return 'path' in report
    ? { id: null, result_text: report.path, activity_status: 'succeeded', result_code: 0 }
    : {
        ...toActivityResponse(report.activity),
        type: 'GenerateUsgReportActivity',
        parent_id: null,
        activity_status: 'in-progress',
      };
}

/** In chunks, because files may be longer than the longest string. */
async function* streamFileAsJson(file: OpenFile): AsyncGenerator<string> {
  yield '{"file_content":"';
  for await (const chunk of file.chunks()) yield JSON.stringify(chunk.toString()).slice(1, -1);
  yield '"}';
}
