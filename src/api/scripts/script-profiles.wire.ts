import type {
  ScriptProfile,
  ScriptProfilePatch,
  ScriptProfileQuery,
  ScriptProfileRequest,
  TriggerRequest,
} from '../../services/scripts/profiles/model.ts';
import { toParentResponse } from '../activities/activities.wire.ts';
import { readListStatus, type StatusAlias } from '../common/list-status.wire.ts';
import { formatLocalTime, formatTime } from '../common/time.wire.ts';
import type { Page } from '../http/request/pagination.ts';
import type { components } from '../openapi/types.generated.ts';

type Schemas = components['schemas'];

export function toScriptProfileResponse(profile: ScriptProfile): Schemas['ScriptProfile'] {
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
export function readScriptProfileQuery(query: Record<string, unknown>, page: Page): ScriptProfileQuery {
  const status = readListStatus(query, ARCHIVED, 'active');
  const { search, names } = query as { search?: string; names?: string[] };
  const archived = status === 'all' ? null : status === 'archived';
  return { ...page, archived, search: search || null, names: names ?? null };
}

/** Body of POST /script-profiles. */
export function readScriptProfileRequest(body: unknown, traceparent: string | null): ScriptProfileRequest {
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
export function readScriptProfilePatch(body: unknown, traceparent: string | null): ScriptProfilePatch {
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
