import type {
  ScriptProfile,
  ScriptProfilePatch,
  ScriptProfileQuery,
  ScriptProfileRequest,
  TriggerRequest,
} from '../../services/scripts/profiles/model.ts';
import type { Services } from '../../services/setup/services.ts';
import { toParentResponse } from '../activities/activity-responses.ts';
import { readListStatus, type StatusAlias } from '../common/list-status.ts';
import { formatLocalTime, formatTime } from '../common/time.ts';
import type { Handlers } from '../http/handler.ts';
import { envelope, type Page, pageOf } from '../http/request/pagination.ts';
import { JsonText } from '../http/response-bodies.ts';
import { traceparentOf } from '../http/tracing.ts';
import type { components } from '../openapi/types.generated.ts';

type Schemas = components['schemas'];

const idOf = (params: Record<string, string | number>) => params['script_profile_id'] as number;

export function scriptProfilesRoutes(deps: {
  services: Pick<Services, 'scriptProfiles' | 'computers'>;
  publicUrl: string;
}): Handlers {
  const { scriptProfiles, computers } = deps.services;
  return {
    async listScriptProfiles(context) {
      const query = readScriptProfileQuery(context.query, pageOf(context));
      const { count, results } = await scriptProfiles.list(context.caller, query);
      return { body: envelope(context, deps.publicUrl, { count, results: results.map(toScriptProfileResponse) }) };
    },
    async createScriptProfile({ caller, body, request }) {
      const profile = await scriptProfiles.create(caller, readScriptProfileRequest(body, traceparentOf(request)));
      return { status: 201, body: toScriptProfileResponse(profile) };
    },
    async getScriptProfile({ caller, params }) {
      return { body: toScriptProfileResponse(await scriptProfiles.get(caller, idOf(params))) };
    },
    async patchScriptProfile({ caller, params, body, request }) {
      const patch = readScriptProfilePatch(body, traceparentOf(request));
      return { body: toScriptProfileResponse(await scriptProfiles.patch(caller, idOf(params), patch)) };
    },
    async archiveScriptProfile({ caller, params }) {
      await scriptProfiles.archive(caller, idOf(params));
      return { status: 204 };
    },
    async listScriptProfileActivities(context) {
      const { caller, params } = context;
      const { count, results } = await scriptProfiles.activities(caller, idOf(params), pageOf(context));
      return { body: envelope(context, deps.publicUrl, { count, results: results.map(toParentResponse) }) };
    },
    async listScriptProfileComputers(context) {
      const query = await scriptProfiles.computersQuery(context.caller, idOf(context.params));
      const flags = { rootOnly: false, wslParents: false, wslChildren: false, after: null };
      const page = await computers.list(
        context.caller,
        { query, status: 'active' as const, ...flags, ...pageOf(context) },
        new Set(),
      );
      const results = new JsonText(page.resultsJson);
      return { body: envelope(context, deps.publicUrl, { count: page.count, results }) };
    },
    async listProfilesOfScript(context) {
      const id = context.params['script_id'] as number;
      const { count, results } = await scriptProfiles.listOfScript(context.caller, id, pageOf(context));
      return { body: envelope(context, deps.publicUrl, { count, results: results.map(toScriptProfileResponse) }) };
    },
    async getScriptProfileLimits() {
      const { maxComputers, maxProfiles, minIntervalMinutes } = scriptProfiles.limits;
      const body = { max_num_computers: maxComputers, max_num_profiles: maxProfiles, min_interval: minIntervalMinutes };
      return { body };
    },
  };
}

function toScriptProfileResponse(profile: ScriptProfile): Schemas['ScriptProfile'] {
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

function toTriggerResponse({ trigger, state }: ScriptProfile): Schemas['ScriptProfileTrigger'] {
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

const ARCHIVED: StatusAlias<'active' | 'archived' | 'all'> = {
  name: 'archived',
  meaning: { active: 'active', archived: 'archived', all: 'all' },
};

/** @throws {DomainError} InvalidParameterCombination */
function readScriptProfileQuery(query: Record<string, unknown>, page: Page): ScriptProfileQuery {
  const status = readListStatus(query, ARCHIVED, 'active');
  const { search, names } = query as { search?: string; names?: string[] };
  const archived = status === 'all' ? null : status === 'archived';
  return { ...page, archived, search: search || null, names: names ?? null };
}

function readScriptProfileRequest(body: unknown, traceparent: string | null): ScriptProfileRequest {
  const request = body as Schemas['ScriptProfileRequest'];
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

/** Body of PATCH /script-profiles/<id>; null is the same as absent. */
function readScriptProfilePatch(body: unknown, traceparent: string | null): ScriptProfilePatch {
  const patch = body as Schemas['ScriptProfilePatch'];
  return {
    title: patch.title ?? undefined,
    allComputers: patch.all_computers ?? undefined,
    tags: patch.tags ?? undefined,
    timeLimit: patch.time_limit ?? undefined,
    username: patch.username ?? undefined,
    timezone: patch.timezone ?? undefined,
    trigger: patch.trigger ? readTrigger(patch.trigger) : undefined,
    traceparent,
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
