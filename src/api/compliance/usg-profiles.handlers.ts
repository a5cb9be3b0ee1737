import { passRate } from '../../domain/compliance/profile.ts';
import { dayRange, reportPath } from '../../domain/compliance/report.ts';
import type { BaseActivity } from '../../services/activities/displayed-activities.ts';
import type {
  UsgProfilePatch,
  UsgProfileQuery,
  UsgProfileRequest,
  UsgProfileView,
} from '../../services/compliance/profiles/model.ts';
import { toActivityResponse } from '../activities/activity-responses.ts';
import { formatTime } from '../common/time.ts';
import type { Handlers, RequestContext, Schemas, Services } from '../http/handler.ts';
import { conditional } from '../http/request/conditional.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';

export function usgProfilesHandlers({ usgProfiles }: Services) {
  return {
    listUsgProfiles: async (context) =>
      envelope(context, await usgProfiles.list(context.caller, readUsgProfileQuery(context)), toUsgProfileResponse),
    createUsgProfile: async ({ caller, body, traceparent }) => {
      const profile = await usgProfiles.create(caller, readUsgProfileRequest(body, traceparent));
      return toUsgProfileResponse(profile);
    },
    getUsgProfile: (context) => {
      const { caller, params } = context;
      const read = (known: readonly string[] | null) => usgProfiles.read(caller, params.usg_profile_id, known);
      return conditional(context, read, toUsgProfileResponse);
    },
    patchUsgProfile: async ({ caller, params, body }) =>
      toUsgProfileResponse(await usgProfiles.patch(caller, params.usg_profile_id, readUsgProfilePatch(body))),
    archiveUsgProfile: async ({ caller, params }) =>
      toUsgProfileResponse(await usgProfiles.archive(caller, params.usg_profile_id)),
    executeUsgProfile: async ({ caller, params, body, traceparent }) => {
      const options = { after: body?.after ?? null, traceparent };
      return toStartedRunResponse(await usgProfiles.execute(caller, params.usg_profile_id, options));
    },
  } satisfies Handlers;
}

/** Replaces the path of the report while a run is open. @see docs/api-conventions.md#usg-runs-and-results */
const OPEN_RUN = 'in-progress';

function toUsgProfileResponse(profile: UsgProfileView): Schemas['UsgProfile'] {
  return {
    id: profile.id,
    account_id: profile.account_id,
    name: profile.name,
    title: profile.title,
    access_group: profile.access_group,
    all_computers: profile.all_computers,
    tags: profile.tags,
    associated_instances: profile.associatedInstances,
    benchmark: profile.benchmark,
    mode: profile.mode,
    schedule: profile.schedule,
    timezone: profile.timezone,
    status: profile.archived ? 'archived' : 'active',
    creation_time: formatTime(profile.creation_time),
    modification_time: formatTime(profile.modification_time),
    next_run_time: formatTime(profile.nextRunTime),
    restart_deliver_delay: profile.restart_deliver_delay,
    restart_deliver_delay_window: profile.restart_deliver_delay_window,
    retention_period: profile.retention_period,
    tailoring_file_uri: profile.tailoring_file_key,
    last_run_results: toLastRunResponse(profile),
  };
}

function toLastRunResponse({ id, archived, lastRun, associatedInstances }: UsgProfileView): Schemas['UsgRunResults'] {
  const { failing, passing, in_progress, not_started } = lastRun ?? {
    failing: 0,
    passing: 0,
    in_progress: 0,
    not_started: associatedInstances,
  };
  // As for the selector, no computer is in progress in an archived profile, even if a run is open.
  const shown = archived ? { in_progress: 0, not_started: not_started + in_progress } : { in_progress, not_started };
  return {
    failing,
    passing,
    ...shown,
    pass_rate: passRate(passing, failing),
    report_uri: lastRun && (lastRun.open ? OPEN_RUN : reportPath(id, dayRange(lastRun.started_at), false)),
    timestamp: formatTime(lastRun?.started_at ?? null),
  };
}

/** The status is `in-progress` only here, unless the run found no computer and is finished. */
function toStartedRunResponse(activity: BaseActivity): Schemas['UsgRunStarted'] {
  const status = activity.status === 'succeeded' ? 'succeeded' : OPEN_RUN;
  return { ...toActivityResponse(activity), type: 'UsgActivity', activity_status: status };
}

function readUsgProfileQuery({ query }: RequestContext<'listUsgProfiles'>): UsgProfileQuery {
  const { search, status, pass_rate_from, pass_rate_to } = query;
  return {
    ...pageOf({ query }),
    search: search || null,
    status: status === undefined || status === 'all' ? null : status,
    passRateFrom: pass_rate_from ?? null,
    passRateTo: pass_rate_to ?? null,
  };
}

function readUsgProfileRequest(request: Schemas['UsgProfileRequest'], traceparent: string | null): UsgProfileRequest {
  return {
    title: request.title,
    benchmark: request.benchmark ?? null,
    mode: request.mode,
    schedule: request.schedule,
    timezone: request.timezone ?? null,
    startDate: request.start_date,
    accessGroup: request.access_group ?? null,
    allComputers: request.all_computers ?? false,
    tags: request.tags ?? [],
    restartDelayHours: request.restart_deliver_delay ?? 0,
    restartWindowMinutes: request.restart_deliver_delay_window ?? 0,
    tailoringFile: request.tailoring_file ?? null,
    traceparent,
  };
}

function readUsgProfilePatch(patch: Schemas['UsgProfilePatch']): UsgProfilePatch {
  return {
    title: patch.title ?? undefined,
    schedule: patch.schedule ?? undefined,
    timezone: patch.timezone ?? undefined,
    allComputers: patch.all_computers ?? undefined,
    tags: patch.tags ?? undefined,
    restartDelayHours: patch.restart_deliver_delay ?? undefined,
    restartWindowMinutes: patch.restart_deliver_delay_window ?? undefined,
  };
}
