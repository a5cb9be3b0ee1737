import type { TriggerState } from '../../../domain/scripts/trigger.ts';
import type { ScriptProfileRow } from '../../../persistence/scripts/script-profiles.repository.ts';
import type { ParentActivity } from '../../activities/activity-views.ts';
import type { ScriptProfileLimits } from '../../../process/config.ts';
import type { ScriptsDeps } from '../model.ts';

/** A profile as it is read. */
export interface ScriptProfile extends Omit<ScriptProfileRow, 'account_id' | 'access_group_id' | 'planned_until'> {
  state: TriggerState;
  /** Computers it applies to now; none for one that runs at enrolments. */
  computers: number;
  /** Null when there is none that the caller may see. */
  lastActivity: ParentActivity | null;
}

/** A request for a page of profiles; null does not restrict. */
export interface ScriptProfileQuery {
  archived: boolean | null;
  search: string | null;
  names: readonly string[] | null;
  limit: number;
  offset: number;
}

/** A trigger as a request says it; absent parts are those of the trigger it replaces, where that is of its type. */
export interface TriggerRequest {
  type?: string | undefined;
  eventType?: string | undefined;
  /** ISO 8601. */
  timestamp?: string | undefined;
  /** ISO 8601. */
  startAfter?: string | undefined;
  /** Cron text. */
  interval?: string | undefined;
}

export interface ScriptProfileRequest {
  title: string;
  scriptId: number;
  allComputers: boolean;
  tags: readonly string[];
  /** Seconds. */
  timeLimit: number;
  username: string;
  /** IANA name; UTC by default. */
  timezone: string | null;
  trigger: TriggerRequest;
  /** W3C trace context of the request. */
  traceparent: string | null;
}

/** What a request changes; absent parts stay. */
export interface ScriptProfilePatch {
  title?: string | undefined;
  allComputers?: boolean | undefined;
  tags?: readonly string[] | undefined;
  timeLimit?: number | undefined;
  username?: string | undefined;
  timezone?: string | undefined;
  trigger?: TriggerRequest | undefined;
  /** W3C trace context of the request. */
  traceparent: string | null;
}

export interface ScriptProfilesDeps extends ScriptsDeps {
  limits: ScriptProfileLimits;
}
