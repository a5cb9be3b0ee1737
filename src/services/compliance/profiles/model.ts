import type { UsgProfileRow } from '../../../persistence/compliance/usg-profiles.repository.ts';
import type { LastRun } from '../../../persistence/compliance/usg-runs.repository.ts';
import type { ActivitySettings } from '../../../process/config.ts';
import type { Database } from '../../../persistence/database/sql.ts';
import type { Clock, FileStore } from '../../common/ports.ts';

export interface UsgProfile extends Omit<UsgProfileRow, 'planned_dates' | 'start_date' | 'creator_id'> {
  /** Number of computers it applies to now. */
  associatedInstances: number;
  /** Null when archived or when its rule has ended. */
  nextRunTime: Date | null;
  /** Null before the first run. */
  lastRun: LastRun | null;
}

/** Null parts do not restrict. */
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
  /** IANA name; UTC by default. */
  timezone: string | null;
  /** ISO 8601. */
  startDate: string;
  /** Name of an access group; `global` by default. */
  accessGroup: string | null;
  allComputers: boolean;
  tags: readonly string[];
  restartDelayHours: number;
  restartWindowMinutes: number;
  tailoringFile: string | null;
  /** W3C trace context of the request. */
  traceparent: string | null;
}

/** Absent parts do not change. */
export interface UsgProfilePatch {
  title?: string | undefined;
  allComputers?: boolean | undefined;
  tags?: readonly string[] | undefined;
  schedule?: string | undefined;
  timezone?: string | undefined;
  restartDelayHours?: number | undefined;
  restartWindowMinutes?: number | undefined;
}

export interface UsgProfilesDeps {
  db: Database;
  clock: Clock;
  files: FileStore;
  settings: ActivitySettings;
}
