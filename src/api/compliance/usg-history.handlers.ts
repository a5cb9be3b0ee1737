import { passRate } from '../../domain/compliance/profile.ts';
import type { UsgAuditView, UsgRunView } from '../../services/compliance/profiles/model.ts';
import { formatTime, toDatesResponse } from '../common/time.ts';
import type { Handlers, Schemas, Services } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';

export function usgHistoryHandlers({ usgProfiles }: Services) {
  return {
    getUsgCompliance: async ({ caller, query }) => {
      const { days = 30, usg_profile_id } = query;
      return { days: await usgProfiles.compliance(caller, { days, profileId: usg_profile_id ?? null }) };
    },
    listUsgProfileRuns: async (context) => {
      const { caller, params } = context;
      return envelope(context, await usgProfiles.runs(caller, params.usg_profile_id, pageOf(context)), toRunResponse);
    },
    listUsgAudits: async (context) => {
      const { caller, params } = context;
      return envelope(context, await usgProfiles.audits(caller, params.computer_id, pageOf(context)), toAuditResponse);
    },
    listUsgProfileDates: async ({ caller, params, query }) =>
      toDatesResponse(await usgProfiles.dates(caller, params.usg_profile_id, query.limit ?? 5)),
    previewNewUsgProfileDates: async ({ body, query }) => {
      const request = { schedule: body.schedule, timezone: body.timezone ?? null, startDate: body.start_date };
      return toDatesResponse(usgProfiles.previewDates(request, query.limit ?? 5));
    },
    previewUsgProfileDates: async ({ caller, params, body, query }) => {
      const patch = { schedule: body.schedule ?? undefined, timezone: body.timezone ?? undefined };
      const change = { patch, limit: query.limit ?? 5 };
      return toDatesResponse(await usgProfiles.previewChangedDates(caller, params.usg_profile_id, change));
    },
  } satisfies Handlers;
}

function toRunResponse(run: UsgRunView): Schemas['UsgRun'] {
  return {
    ...run,
    scheduled_time: formatTime(run.scheduled_time),
    started_at: formatTime(run.started_at),
    pass_rate: passRate(run.passing, run.failing),
  };
}

function toAuditResponse({ profile_id, title, state, ...audit }: UsgAuditView): Schemas['UsgAudit'] {
  return {
    ...audit,
    profile: { id: profile_id, title },
    started_at: formatTime(audit.started_at),
    reported_at: formatTime(audit.reported_at),
    result: state,
  };
}
