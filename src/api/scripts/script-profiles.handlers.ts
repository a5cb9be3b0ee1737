import type {
  ScriptDatesPatch,
  ScriptProfilePatch,
  ScriptProfileQuery,
  ScriptProfileRequest,
  ScriptProfileView,
  TriggerRequest,
} from '../../services/scripts/profiles/model.ts';
import { toParentResponse } from '../activities/activity-responses.ts';
import { readListStatus, type StatusAlias } from '../common/list-status.ts';
import { formatLocalTime, formatTime, toDatesResponse } from '../common/time.ts';
import type { Handlers, RequestContext, Schemas, Services } from '../http/handler.ts';
import { conditional } from '../http/request/conditional.ts';
import { envelope, jsonEnvelope, pageOf } from '../http/request/pagination.ts';

export function scriptProfilesHandlers({ scriptProfiles, computers }: Services) {
  return {
    listScriptProfiles: async (context) =>
      envelope(
        context,
        await scriptProfiles.list(context.caller, readScriptProfileQuery(context)),
        toScriptProfileResponse,
      ),
    createScriptProfile: async ({ caller, body, traceparent }) => {
      const profile = await scriptProfiles.create(caller, readScriptProfileRequest(body, traceparent));
      return toScriptProfileResponse(profile);
    },
    getScriptProfile: (context) => {
      const { caller, params } = context;
      const read = (known: readonly string[] | null) => scriptProfiles.read(caller, params.script_profile_id, known);
      return conditional(context, read, toScriptProfileResponse);
    },
    patchScriptProfile: async ({ caller, params, body, traceparent }) => {
      const patch = readScriptProfilePatch(body, traceparent);
      return toScriptProfileResponse(await scriptProfiles.patch(caller, params.script_profile_id, patch));
    },
    archiveScriptProfile: ({ caller, params }) => scriptProfiles.archive(caller, params.script_profile_id),
    listScriptProfileActivities: async (context) => {
      const { caller, params } = context;
      const page = await scriptProfiles.activities(caller, params.script_profile_id, pageOf(context));
      return envelope(context, page, toParentResponse);
    },
    listScriptProfileDates: async ({ caller, params, query }) =>
      toDatesResponse(await scriptProfiles.dates(caller, params.script_profile_id, query.limit ?? 5)),
    previewNewScriptProfileDates: async ({ body, query }) => {
      const request = { timezone: body.timezone ?? null, trigger: readTrigger(body.trigger) };
      return toDatesResponse(scriptProfiles.previewDates(request, query.limit ?? 5));
    },
    previewScriptProfileDates: async ({ caller, params, body, query }) => {
      const change = { patch: readDatesPatch(body), limit: query.limit ?? 5 };
      return toDatesResponse(await scriptProfiles.previewChangedDates(caller, params.script_profile_id, change));
    },
    listScriptProfileComputers: async (context) => {
      const query = await scriptProfiles.computersQuery(context.caller, context.params.script_profile_id);
      const flags = { rootOnly: false, wslParents: false, wslChildren: false, after: null };
      const filter = { query, status: 'active' as const, ...flags, ...pageOf(context) };
      const { count, resultsJson } = await computers.list(context.caller, filter, new Set());
      return jsonEnvelope(context, { count, resultsJson });
    },
    listProfilesOfScript: async (context) => {
      const page = await scriptProfiles.listOfScript(context.caller, context.params.script_id, pageOf(context));
      return envelope(context, page, toScriptProfileResponse);
    },
    getScriptProfileLimits: async () => {
      const { maxComputers, maxProfiles, minIntervalMinutes } = scriptProfiles.limits;
      return { max_num_computers: maxComputers, max_num_profiles: maxProfiles, min_interval: minIntervalMinutes };
    },
  } satisfies Handlers;
}

function toScriptProfileResponse(profile: ScriptProfileView): Schemas['ScriptProfile'] {
  return {
    id: profile.id,
    title: profile.title,
    script_id: profile.script_id,
    access_group: profile.access_group,
    created_by: profile.created_by,
    created_at: formatLocalTime(profile.created_at),
    last_edited_at: formatLocalTime(profile.last_edited_at),
    trigger: toTriggerResponse(profile),
    all_computers: profile.all_computers,
    tags: profile.tags,
    time_limit: profile.time_limit,
    username: profile.username,
    timezone: profile.timezone,
    computers: { num_associated_computers: profile.computers },
    activities: { last_activity: profile.lastActivity === null ? null : toParentResponse(profile.lastActivity) },
    archived: profile.archived,
  };
}

function toTriggerResponse({ trigger, state }: ScriptProfileView): Schemas['ScriptProfileTrigger'] {
  const runs = { last_run: formatTime(state.lastRun), next_run: formatTime(state.nextRun) };
  switch (trigger.type) {
    case 'event':
      return { trigger_type: 'event', event_type: trigger.eventType };
    case 'one_time':
      return {
        trigger_type: 'one_time',
        timestamp: formatTime(trigger.timestamp),
        is_finished: state.isFinished,
        ...runs,
      };
    case 'recurring':
      return {
        trigger_type: 'recurring',
        start_after: formatTime(trigger.startAfter),
        interval: trigger.interval,
        ...runs,
      };
  }
}

const ARCHIVED: StatusAlias<'active' | 'archived' | 'all', 'archived'> = {
  name: 'archived',
  meaning: { active: 'active', archived: 'archived', all: 'all' },
};

function readScriptProfileQuery({ query }: RequestContext<'listScriptProfiles'>): ScriptProfileQuery {
  const status = readListStatus(query, ARCHIVED, 'active');
  const { search, names } = query;
  const archived = status === 'all' ? null : status === 'archived';
  return { ...pageOf({ query }), archived, search: search || null, names: names ?? null };
}

function readScriptProfileRequest(
  request: Schemas['ScriptProfileRequest'],
  traceparent: string | null,
): ScriptProfileRequest {
  return {
    title: request.title,
    scriptId: request.script_id,
    allComputers: request.all_computers,
    tags: request.tags,
    timeLimit: request.time_limit,
    username: request.username,
    timezone: request.timezone ?? null,
    trigger: readTrigger(request.trigger),
    traceparent,
  };
}

function readScriptProfilePatch(patch: Schemas['ScriptProfilePatch'], traceparent: string | null): ScriptProfilePatch {
  return {
    title: patch.title ?? undefined,
    allComputers: patch.all_computers ?? undefined,
    tags: patch.tags ?? undefined,
    timeLimit: patch.time_limit ?? undefined,
    username: patch.username ?? undefined,
    ...readDatesPatch(patch),
    traceparent,
  };
}

function readDatesPatch(patch: Schemas['ScriptProfileDatesPatch']): ScriptDatesPatch {
  return {
    timezone: patch.timezone ?? undefined,
    trigger: patch.trigger ? readTrigger(patch.trigger) : undefined,
  };
}

function readTrigger(trigger: Schemas['ScriptProfileTriggerPatch']): TriggerRequest {
  return {
    type: trigger.trigger_type ?? undefined,
    eventType: trigger.event_type ?? undefined,
    timestamp: trigger.timestamp ?? undefined,
    startAfter: trigger.start_after ?? undefined,
    interval: trigger.interval ?? undefined,
  };
}
