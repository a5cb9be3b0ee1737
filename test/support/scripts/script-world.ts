import type { Database } from '../../../src/persistence/database/sql.ts';
import { loadConfig } from '../../../src/process/config.ts';
import type { Caller, Clock } from '../../../src/services/common/ports.ts';
import type {
  ScriptProfile,
  ScriptProfileRequest,
  TriggerRequest,
} from '../../../src/services/scripts/profiles/model.ts';
import {
  createScriptProfilesService,
  type ScriptProfilesService,
} from '../../../src/services/scripts/profiles/script-profiles.service.ts';
import { createScriptsService } from '../../../src/services/scripts/scripts.service.ts';
import { anAccount, SETTINGS } from '../activities/activity-rows.ts';
import { administratorOf } from '../http/callers.ts';

/** An account with computers, a script, and the service of profiles over its database, without an API. */
export interface ScriptWorld {
  profiles: ScriptProfilesService;
  caller: Caller;
  computers: number[];
  /** Creates a profile of the script for all computers. */
  create(trigger: TriggerRequest, timezone?: string): Promise<ScriptProfile>;
  /** Runs of a profile in the order they were started. */
  runs(profileId: number): Promise<Array<{ nominal_time: Date | null; activity_id: number | null; started_at: Date }>>;
}

export async function createScriptWorld(db: Database, clock: Clock, computers = 2): Promise<ScriptWorld> {
  const account = await anAccount(db, { computers });
  const caller = await administratorOf(db, account);
  const { scriptProfiles } = loadConfig({}, 'stack');
  const limits = { ...scriptProfiles, minIntervalMinutes: 1 };
  const deps = { db, clock, settings: SETTINGS, publicUrl: 'http://localhost:8080', limits };
  const profiles = createScriptProfilesService(deps);
  const script = await createScriptsService(deps).create(caller, {
    title: 'Say hello',
    code: '#!/bin/sh\necho hello\n',
    timeLimit: null,
    username: null,
    accessGroup: null,
    attachments: [],
  });
  let made = 0;
  return {
    profiles,
    caller,
    computers: account.computers,
    create: (trigger, timezone = 'UTC') => {
      made += 1;
      return profiles.create(caller, { ...REQUEST, title: `Profile ${made}`, scriptId: script.id, trigger, timezone });
    },
    runs: (profileId) =>
      db.query(
        'select nominal_time, activity_id, started_at from script_profile_run where profile_id = $1 order by id',
        [profileId],
      ),
  };
}

const REQUEST: Omit<ScriptProfileRequest, 'title' | 'scriptId' | 'trigger'> = {
  allComputers: true,
  tags: [],
  timeLimit: 60,
  username: 'root',
  timezone: null,
  traceparent: null,
};
