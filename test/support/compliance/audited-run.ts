import type { UsgMode } from '../../../src/domain/compliance/profile.ts';
import type { Database } from '../../../src/persistence/database/sql.ts';
import type { Engine } from '../../../src/services/engine/engine.ts';
import { addEvent, childrenOf, type TestClock } from '../activities/activity-rows.ts';
import { createUsgWorld, type UsgWorld } from './usg.ts';

interface Scene {
  db: Database;
  engine: Engine;
  clock: TestClock;
}

/** A run of a new profile on the computers of a new account, its batches opened. */
export async function anAuditedRun(scene: Scene, mode: UsgMode, computers: number): Promise<AuditedRun> {
  const { db, engine, clock } = scene;
  const world = await createUsgWorld(db, clock, computers);
  const profile = await world.create({ mode, startDate: clock.now().toISOString() });
  const [made] = await world.runs(profile);
  const run = new AuditedRun(scene, world, { profile, activity: made!.activity_id! });
  for (const { batch: lane } of await engine.listOpenBatches(run.activity))
    await engine.processPendingEvents(lane, false);
  return run;
}

export class AuditedRun {
  readonly #scene: Scene;
  readonly #world: UsgWorld;
  readonly profile: number;
  readonly activity: number;

  constructor(scene: Scene, world: UsgWorld, { profile, activity }: { profile: number; activity: number }) {
    this.#scene = scene;
    this.#world = world;
    this.profile = profile;
    this.activity = activity;
  }

  get computers() {
    return this.#world.computers;
  }

  /** The steps of one computer, in order. */
  async steps(index: number) {
    const all = await childrenOf(this.#scene.db, this.activity);
    return all.filter(({ computer_id }) => computer_id === this.computers[index]);
  }

  async tell(index: number, step: number, kind: 'delivered' | 'result' | 'cancel', ok = true) {
    const { db, clock, engine } = this.#scene;
    const { id, lane_id } = (await this.steps(index))[step]!;
    await addEvent(db, { batch: lane_id, activity: id, kind, ok, body: ok ? 'done' : 'broken', at: clock.now() });
    await engine.processPendingEvents(lane_id, false);
  }

  /** What the agent of a computer sends after its audit, by its last step by default. */
  async report(index: number, report: Buffer, step = -1) {
    const { db, clock } = this.#scene;
    const { id, computer_id } = (await this.steps(index)).at(step)!;
    await db.query('insert into usg_audit_report values ($1, $2, $3, $4, $5)', [
      id,
      computer_id,
      'r',
      report,
      clock.now(),
    ]);
  }

  async results() {
    const { lastRun } = await this.#world.profiles.get(this.#world.caller, this.profile);
    const { not_started, in_progress, passing, failing, open } = lastRun!;
    return { not_started, in_progress, passing, failing, open };
  }

  audits() {
    return this.#scene.db.query(
      'select state, reason, passed_count, failed_count from usg_audit where profile_id = $1 order by computer_id',
      [this.profile],
    );
  }
}
