import type { TriggerState } from '../../../domain/scripts/trigger.ts';
import type { ScriptProfileRow } from '../../../persistence/scripts/script-profiles.repository.ts';
import type { ParentActivity } from '../../activities/activity-views.ts';
import type { ScriptProfileLimits } from '../../../process/config.ts';
import type { ScriptsDeps } from '../model.ts';

export interface ScriptProfile extends Omit<ScriptProfileRow, 'account_id' | 'access_group_id' | 'planned_until'> {
  state: TriggerState;
  /** Number of computers it applies to now; none if it runs at enrollments. */
  computers: number;
  /** Null if none is visible to the caller. */
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

/** Absent parts are taken from the previous trigger if it has the same type. */
export interface TriggerRequest {
  type?: string | undefined;
  eventType?: string | undefined;
  /** ISO 8601. */
  timestamp?: string | undefined;
  /** ISO 8601. */
  startAfter?: string | undefined;
  interval?: string | undefined;
}

export interface ScriptProfileRequest {
  title: string;
  scriptId: number;
  allComputers: boolean;
  tags: readonly string[];
  /** In seconds. */
  timeLimit: number;
  username: string;
  /** IANA name; UTC by default. */
  timezone: string | null;
  trigger: TriggerRequest;
  /** W3C trace context of the request. */
  traceparent: string | null;
}

/** Absent parts do not change. */
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
