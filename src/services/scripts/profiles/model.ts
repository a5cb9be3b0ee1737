import type { TriggerState } from '../../../domain/scripts/trigger.ts';
import type { ScriptProfileRow } from '../../../persistence/scripts/script-profiles.sql.ts';
import type { ParentActivity } from '../../activities/displayed-activities.ts';
import type { ScriptProfileLimits } from '../../../process/config.ts';
import type { Patch } from '../../common/fields.ts';
import type { ScriptsDeps } from '../model.ts';

export interface ScriptProfileView extends Omit<ScriptProfileRow, 'account_id' | 'access_group_id' | 'planned_until'> {
  state: TriggerState;
  computers: number;
  /** Null if none is visible to the caller. */
  lastActivity: ParentActivity | null;
}

export interface ScriptProfileQuery {
  archived: boolean | null;
  search: string | null;
  names: readonly string[] | null;
  limit: number;
  offset: number;
}

/** Absent parts are taken from the previous trigger if it has the same type. */
export type TriggerRequest = Patch<{
  type: string;
  eventType: string;
  timestamp: string;
  startAfter: string;
  interval: string;
}>;

export interface ScriptProfileRequest {
  title: string;
  scriptId: number;
  allComputers: boolean;
  tags: readonly string[];
  timeLimit: number;
  username: string;
  timezone: string | null;
  trigger: TriggerRequest;
  traceparent: string | null;
}

export type ScriptProfilePatch = Patch<Omit<ScriptProfileRequest, 'scriptId' | 'timezone' | 'traceparent'>> &
  Patch<{ timezone: string }> &
  Pick<ScriptProfileRequest, 'traceparent'>;

/** What decides on the dates of a profile. */
export type ScriptDatesRequest = Pick<ScriptProfileRequest, 'timezone' | 'trigger'>;
export type ScriptDatesPatch = Pick<ScriptProfilePatch, 'timezone' | 'trigger'>;

export interface ScriptProfilesDeps extends ScriptsDeps {
  limits: ScriptProfileLimits;
}
