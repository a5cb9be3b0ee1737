import type { Request, Router } from 'express';
import type { OpenFile } from '../../services/common/ports.ts';
import type { UsgReportRequest, UsgReportResponse } from '../../services/compliance/reports/usg-reports.service.ts';
import type { Services } from '../../services/setup/services.ts';
import { toActivityResponse } from '../activities/activity-responses.ts';
import type { Handler, RequestContext, ServeOperation } from '../http/handler.ts';
import { createRouter } from '../http/router.ts';
import type { components } from '../openapi/types.generated.ts';

type Schemas = components['schemas'];

export function usgReportsRoutes(deps: { operation: ServeOperation; services: Pick<Services, 'usgReports'> }): Router {
  const { operation } = deps;
  const { usgReports } = deps.services;
  const getUsgProfileReport: Handler<'getUsgProfileReport'> = async (context) => {
    const report = await usgReports.request(context.caller, readUsgReportRequest(context));
    return { body: toUsgReportResponse(report) };
  };
  const getUsgProfileBlob: Handler<'getUsgProfileBlob'> = async ({ caller, query, request }) => {
    const file = await usgReports.open(caller, query.path);
    const stream = wantsText(request)
      ? { type: 'text/csv; charset=utf-8', pieces: file.chunks() }
      : { type: 'application/json; charset=utf-8', pieces: streamFileAsJson(file) };
    return { stream, headers: { Vary: 'Accept' } };
  };
  return createRouter()
    .get('/usg-profiles/:usg_profile_id/report', operation('getUsgProfileReport', getUsgProfileReport))
    .get('/usg-profiles/blob', operation('getUsgProfileBlob', getUsgProfileBlob));
}

function wantsText(request: Request): boolean {
  return request.accepts(['application/json', 'text/csv']) === 'text/csv';
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

/** In pieces, because files may be longer than the longest string. */
async function* streamFileAsJson(file: OpenFile): AsyncGenerator<string> {
  yield '{"file_content":"';
  for await (const piece of file.chunks()) yield JSON.stringify(piece.toString()).slice(1, -1);
  yield '"}';
}
