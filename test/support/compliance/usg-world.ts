import type { Database } from '../../../src/persistence/database/sql.ts';
import { createDatabaseFileStore } from '../../../src/services/common/files.ts';
import type { Caller, Clock } from '../../../src/services/common/ports.ts';
import type { UsgProfileRequest } from '../../../src/services/compliance/profiles/model.ts';
import { createUsgKind } from '../../../src/services/compliance/profiles/usg-runs.ts';
import {
  createUsgProfilesService,
  type UsgProfilesService,
} from '../../../src/services/compliance/profiles/usg-profiles.service.ts';
import type { ProfileKind } from '../../../src/services/schedules/profile-kind.ts';
import { testLogger } from '../../../tools/harness/test-log.ts';
import { anAccount, SETTINGS } from '../activities/activity-rows.ts';
import { administratorOf } from '../http/callers.ts';

/** An account with computers, and the profile service and schedule kind over its database, without an API. */
export interface UsgWorld {
  profiles: UsgProfilesService;
  kind: ProfileKind;
  caller: Caller;
  computers: number[];
  /** Creates a profile for all computers, weekly from `startDate` on. @returns its id */
  create(over: Partial<UsgProfileRequest> & { startDate: string }): Promise<number>;
  /** Runs of a profile in the order they were started. */
  runs(profileId: number): Promise<Array<{ nominal_time: Date | null; activity_id: number | null; started_at: Date }>>;
}

export async function createUsgWorld(db: Database, clock: Clock, computers = 2): Promise<UsgWorld> {
  const account = await anAccount(db, { computers });
  const caller = await administratorOf(db, account);
  const deps = { db, files: createDatabaseFileStore(db), settings: SETTINGS };
  const logger = testLogger();
  const profiles = createUsgProfilesService({ ...deps, clock });
  return {
    profiles,
    kind: createUsgKind({ ...deps, logger, publicUrl: 'http://localhost:8080' }),
    caller,
    computers: account.computers,
    async create(over) {
      const { id } = await profiles.create(caller, { ...REQUEST, ...over });
      return id;
    },
    runs: (profileId) =>
      db.query('select nominal_time, activity_id, started_at from usg_run where profile_id = $1 order by id', [
        profileId,
      ]),
  };
}

const REQUEST: Omit<UsgProfileRequest, 'startDate'> = {
  title: 'Weekly baseline',
  benchmark: 'cis_level1_server',
  mode: 'audit',
  schedule: 'FREQ=WEEKLY',
  timezone: null,
  accessGroup: null,
  allComputers: true,
  tags: [],
  restartDelayHours: 0,
  restartWindowMinutes: 0,
  tailoringFile: null,
  traceparent: null,
};
