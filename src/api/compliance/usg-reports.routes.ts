import type { Request } from 'express';
import type { Services } from '../../services/setup/services.ts';
import type { Handlers } from '../http/handler.ts';
import { traceparentOf } from '../http/tracing.ts';
import { readUsgReportRequest, streamFileAsJson, toUsgReportResponse } from './usg-reports.wire.ts';

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
