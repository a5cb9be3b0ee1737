import type { TriggerState } from '../../../domain/scripts/trigger.ts';
import type { ScriptProfileRow } from '../../../persistence/scripts/script-profiles.repository.ts';
import type { ParentActivity } from '../../activities/activity-views.ts';
import type { ScriptProfileLimits } from '../../../process/config.ts';
import type { ScriptsDeps } from '../model.ts';

export interface ScriptProfile extends Omit<ScriptProfileRow, 'account_id' | 'access_group_id' | 'planned_until'> {
  state: TriggerState;
  /** Computers it applies to now; none for one that runs at enrolments. */
  computers: number;
  /** Null when there is none that the caller may see. */
  lastActivity: ParentActivity | null;
}

/** Null parts do not restrict. */
export interface ScriptProfileQuery {
  archived: boolean | null;
  search: string | null;
  names: readonly string[] | null;
  limit: number;
  offset: number;
}

/** Absent parts stay those of the trigger it replaces, if that has the same type. */
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

/** Absent parts stay. */
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
