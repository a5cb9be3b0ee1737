import type { UsgAuditRow, UsgRunRow } from '../../../persistence/compliance/usg-compliance.sql.ts';
import type { UsgProfileRow } from '../../../persistence/compliance/usg-profiles.sql.ts';
import type { LastRun } from '../../../persistence/compliance/usg-runs.sql.ts';
import type { ActivitySettings } from '../../../process/config.ts';
import type { Database } from '../../../persistence/database/sql.ts';
import type { Patch } from '../../common/fields.ts';
import type { Clock, FileStore } from '../../common/ports.ts';

export interface UsgProfileView extends Omit<UsgProfileRow, 'planned_dates' | 'start_date' | 'creator_id'> {
  associatedInstances: number;
  nextRunTime: Date | null;
  lastRun: LastRun | null;
}

export type UsgRunView = UsgRunRow;
export type UsgAuditView = UsgAuditRow;

export interface UsgProfileQuery {
  search: string | null;
  status: 'active' | 'archived' | 'over-limit' | null;
  passRateFrom: number | null;
  passRateTo: number | null;
  limit: number;
  offset: number;
}

export interface UsgProfileRequest {
  title: string;
  benchmark: string | null;
  mode: string;
  schedule: string;
  timezone: string | null;
  startDate: string;
  accessGroup: string | null;
  allComputers: boolean;
  tags: readonly string[];
  restartDelayHours: number;
  restartWindowMinutes: number;
  tailoringFile: string | null;
  traceparent: string | null;
}

export type UsgProfilePatch = Patch<
  Pick<
    UsgProfileRequest,
    'title' | 'allComputers' | 'tags' | 'schedule' | 'restartDelayHours' | 'restartWindowMinutes'
  > & {
    timezone: string;
  }
>;

/** What decides on the dates of a profile. */
export type UsgDatesRequest = Pick<UsgProfileRequest, 'schedule' | 'timezone' | 'startDate'>;
export type UsgDatesPatch = Pick<UsgProfilePatch, 'schedule' | 'timezone'>;

export interface UsgProfilesDeps {
  db: Database;
  clock: Clock;
  files: FileStore;
  settings: ActivitySettings;
}
