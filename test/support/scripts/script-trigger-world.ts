import { expect } from 'vitest';
import { loadConfig } from '../../../src/process/config.ts';
import { createLogger } from '../../../src/process/logger.ts';
import type { ProfileKind } from '../../../src/services/schedules/profile-kind.ts';
import { createScriptKind } from '../../../src/services/scripts/profiles/script-kind.ts';
import { SETTINGS } from '../activities/activity-rows.ts';
import { createFleetWorld, type FleetWorld } from '../agents/fleet-world.ts';
import { PUBLIC_URL } from '../http/app.ts';
import { once, recurring } from './script-profile-requests.ts';
import { script, scriptProfile } from './scripts.ts';

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

  /** Takes the orders to bring a profile's schedule up to date, and reports how many there were. */
  async orders(id: number): Promise<number> {
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
