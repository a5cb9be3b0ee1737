import { expect } from 'vitest';
import type { Database } from '../../../src/persistence/database/sql.ts';
import { loadConfig } from '../../../src/process/config.ts';
import { createLogger } from '../../../src/process/logger.ts';
import type { Caller, Clock } from '../../../src/services/common/ports.ts';
import type { ProfileKind } from '../../../src/services/schedules/profile-kind.ts';
import type {
  ScriptProfileRequest,
  ScriptProfileView,
  TriggerRequest,
} from '../../../src/services/scripts/profiles/model.ts';
import { createScriptKind } from '../../../src/services/scripts/profiles/script-kind.ts';
import {
  createScriptProfilesService,
  type ScriptProfilesService,
} from '../../../src/services/scripts/profiles/script-profiles.service.ts';
import { createScriptsService } from '../../../src/services/scripts/scripts.service.ts';
import { anAccount, SETTINGS } from '../activities/activity-rows.ts';
import { createFleetWorld, type FleetWorld } from '../agents/fleet-world.ts';
import { administratorOf, PUBLIC_URL } from '../http/app.ts';

/** A valid body of POST /scripts. */
export const script = (over: object = {}) => ({ title: 'Say hello', code: '#!/bin/bash\necho hello\n', ...over });

/** Text as attachments carry it. */
export const base64 = (text: string) => Buffer.from(text).toString('base64');

/** A valid body of POST /script-profiles at the time of the test clocks, 2026-11-21T12:00:00Z. */
export const scriptProfile = (scriptId: number, over: object = {}) => ({
  title: 'Nightly',
  script_id: scriptId,
  all_computers: true,
  tags: [],
  time_limit: 60,
  username: 'root',
  trigger: { trigger_type: 'recurring', start_after: '2026-11-20T00:00:00Z', interval: '30 2 * * *' },
  ...over,
});

/** An account with computers, a script, and the service of profiles over its database, without an API. */
export interface ScriptWorld {
  profiles: ScriptProfilesService;
  caller: Caller;
  computers: number[];
  /** Creates a profile of the script for all computers. */
  create(trigger: TriggerRequest, timezone?: string): Promise<ScriptProfileView>;
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

export const once = (timestamp: string) => ({ trigger_type: 'one_time', timestamp });
export const recurring = (interval: string, start_after = '2026-11-20T00:00:00Z') => ({
  trigger_type: 'recurring',
  start_after,
  interval,
});
export const event = { trigger_type: 'event', event_type: 'post_enrollment' };

/** What tests do with script profiles over the API, on a world that is made before the first test. */
export function scriptProfileRequests(worldOf: () => FleetWorld) {
  let turn = 0;
  const scriptIds = { global: 0, servers: 0 };

  const call = (method: string, path: string, body?: unknown, token = worldOf().tokens.admin) =>
    worldOf().app.call(method, path, { token, ...(body === undefined ? {} : { body }) });

  /** Makes the two scripts that profiles run: one of all computers, one of the servers. */
  async function addScripts(): Promise<void> {
    scriptIds.global = (await call('POST', '/scripts', script())).body.id;
    scriptIds.servers = (
      await call('POST', '/scripts', script({ title: 'On servers', access_group: 'servers' }))
    ).body.id;
  }

  /** From now on profiles have another title. */
  const nextTurn = (): void => void turn++;

  const create = (over: object = {}, token?: string) =>
    call('POST', '/script-profiles', scriptProfile(scriptIds.global, { title: `Profile ${turn}`, ...over }), token);

  /** What a rejection must leave as it was. */
  const stored = async () => {
    const [row] = await worldOf().db.query(
      `select (select md5(string_agg(p::text, '')) from script_profile p) as profiles,
         (select count(*) from event where entity_type = 'ScriptProfile') as events`,
    );
    return row;
  };

  return { scriptIds, call, addScripts, nextTurn, create, stored, turn: () => turn };
}

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const { scriptProfiles: LIMITS } = loadConfig({}, 'stack');

export const onceAt = (at: Date) => once(at.toISOString());
export const hourly = (over: object = {}) => ({ ...recurring('0 * * * *'), ...over });
/** A moment as the API shows it. */
export const text = (date: Date) => `${date.toISOString().slice(0, 19)}Z`;

/** A fleet, one script, and profiles of it that tests make and have started by hand, on a clock that only they move. */
export class TriggerWorld {
  readonly world: FleetWorld;
  readonly kind: ProfileKind;
  /** Counts the tests. */
  turn = 0;
  #scriptId = 0;
  #token = '';

  private constructor(world: FleetWorld) {
    this.world = world;
    this.kind = this.kindWith({});
  }

  static async create(): Promise<TriggerWorld> {
    const made = new TriggerWorld(await createFleetWorld());
    await made.refresh();
    made.#scriptId = (await made.call('POST', '/scripts', script())).body.id;
    return made;
  }

  /** To be called before each test: what runs is ended. */
  async next(): Promise<void> {
    this.turn++;
    await this.world.processEvents(true);
    await this.refresh();
  }

  close(): Promise<void> {
    return this.world.close();
  }

  /**
   * Previews the dates of a profile, and expects that nothing has been stored.
   * @param of - empty for a new profile, `/<id>` for a change of one
   */
  async previewDates(kind: 'script' | 'usg', of: string, body: object, limit = 12) {
    const before = await this.#stored();
    const response = await this.call('POST', `/${kind}-profiles${of}:preview-dates?limit=${limit}`, body);
    expect(await this.#stored()).toEqual(before);
    return response;
  }

  async #stored(): Promise<unknown> {
    const [stored] = await this.world.db.query(
      `select (select md5(string_agg(p::text, '')) from script_profile p) as script_profiles,
         (select md5(string_agg(p::text, '')) from usg_profile p) as usg_profiles,
         (select count(*) from script_profile_run) as script_runs, (select count(*) from usg_run) as usg_runs,
         (select count(*) from activity) as activities, (select count(*) from event) as events,
         (select count(*) from outbox) as commands`,
    );
    return stored;
  }

  kindWith(limits: Partial<typeof LIMITS>): ProfileKind {
    return createScriptKind({
      db: this.world.db,
      logger: createLogger({ level: 'silent', role: 'test' }),
      settings: SETTINGS,
      limits: { ...LIMITS, ...limits },
      publicUrl: PUBLIC_URL,
    });
  }

  /** Logs in again: the clock goes on by days, and tokens end. */
  async refresh(): Promise<void> {
    this.#token = await this.world.app.login();
  }

  call(method: string, path: string, body?: unknown) {
    return this.world.app.call(method, path, { token: this.#token, ...(body === undefined ? {} : { body }) });
  }

  async create(trigger: object, over: object = {}) {
    const profile = scriptProfile(this.#scriptId, { title: `T${this.turn}`, trigger, ...over });
    const response = await this.call('POST', '/script-profiles', profile);
    expect(response.status, response.text).toBe(201);
    return response.body;
  }

  async read(id: number) {
    return (await this.call('GET', `/script-profiles/${id}`)).body;
  }

  async patch(id: number, trigger: object) {
    return (await this.call('PATCH', `/script-profiles/${id}`, { trigger })).body;
  }

  /** Runs of a profile, the first one first. */
  async runs(id: number) {
    return (await this.call('GET', `/script-profiles/${id}/activities`)).body.results.toReversed();
  }

  async computersOf(activity: number): Promise<number[]> {
    const rows = await this.world.db.query<{ computer_id: number }>(
      'select computer_id from activity where parent_id = $1 order by computer_id',
      [activity],
    );
    return rows.map(({ computer_id }) => computer_id);
  }

  /** Takes the outbox commands that update a profile's schedule, and reports how many there were. */
  async takeSyncCommands(id: number): Promise<number> {
    const taken = `delete from outbox where kind = 'schedule_sync' and key = $1 returning key`;
    return (await this.world.db.query(taken, [`script/${id}`])).length;
  }

  /** Ids of the fleet's computers, in order. */
  fleet(): number[] {
    const { web, db, desk } = this.world.ids;
    return [web!, db!, desk!].sort((a, b) => a - b);
  }

  now(): Date {
    return this.world.clock.now();
  }

  inMs(ms: number): Date {
    return new Date(Math.floor((this.now().getTime() + ms) / 1000) * 1000);
  }

  nextHour(): Date {
    return new Date((Math.floor(this.now().getTime() / HOUR) + 1) * HOUR);
  }
}
