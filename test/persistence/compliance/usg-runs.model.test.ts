import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../../src/persistence/database/sql.ts';
import { failUnreported, ingestReports } from '../../../src/services/compliance/audits/ingest.ts';
import { readAuditReport } from '../../../src/services/compliance/audits/read-report.ts';
import { createEngine, type Engine } from '../../../src/services/engine/engine.ts';
import { addEvent, type ChildState, childrenOf, TestClock } from '../../support/activities/activity-rows.ts';
import { auditReport, createUsgWorld, type UsgWorld } from '../../support/compliance/usg.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import fc, { seedOr } from '../../support/common/random.ts';

const MODES = ['audit', 'fix-audit', 'fix-restart-audit'] as const;
const HALF_HOUR_MS = 30 * 60_000;

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  db = database.persistence.db;
});
afterAll(() => database?.drop());

const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom('delivered' as const, 'result' as const, 'result' as const),
      pick: fc.nat(99),
      ok: fc.constantFrom(true, true, true, false),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel' as const), pick: fc.nat(99) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('processEvents' as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('report' as const), pick: fc.nat(99), ok: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), hours: fc.constantFrom(1, 30) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** What became of the audit of one computer, and what its steps were like when that was last looked at. */
interface Audit {
  state: string;
  steps: readonly ChildState[];
  /** When its audit succeeded; null as long as it has not. */
  audited: number | null;
  reported: boolean;
}

/** A run of a profile, and the expected state of each of its computers. */
class RunTrial {
  readonly #world: UsgWorld;
  readonly #clock: TestClock;
  readonly #engine: Engine;
  readonly #profile: number;
  readonly #activity: number;
  readonly #audits = new Map<number, Audit>();

  private constructor(world: UsgWorld, clock: TestClock, profile: number, activity: number) {
    this.#world = world;
    this.#clock = clock;
    this.#engine = createEngine({ ...database.persistence, clock, settings: { expiryDays: 1 } });
    this.#profile = profile;
    this.#activity = activity;
  }

  static async start(mode: (typeof MODES)[number], computers: number): Promise<RunTrial> {
    const clock = new TestClock();
    const world = await createUsgWorld(db, clock, computers);
    const profile = await world.create({ mode, startDate: clock.now().toISOString() });
    const [run] = await world.runs(profile);
    const trial = new RunTrial(world, clock, profile, run!.activity_id!);
    for (const id of world.computers) {
      trial.#audits.set(id, { state: 'not-started', steps: [], audited: null, reported: false });
    }
    await trial.run({ do: 'processEvents' });
    return trial;
  }

  async run(one: Step): Promise<void> {
    this.#clock.advance(1000);
    const children = await childrenOf(db, this.#activity);
    const picked = 'pick' in one ? children[one.pick % children.length]! : children[0]!;
    const pendingEvents = { batch: picked.lane_id, activity: picked.id, at: this.#clock.now() };
    switch (one.do) {
      case 'delivered':
      case 'result':
        // Only operations that an agent was given can have a result; a cancel may have come meanwhile.
        if (picked.message !== null && picked.message !== 'withdrawn') {
          await db.query(`update agent_message set state = 'sent' where activity_id = $1`, [picked.id]);
          await addEvent(db, { ...pendingEvents, kind: one.do, ok: one.ok });
        }
        return;
      case 'cancel':
        return addEvent(db, { ...pendingEvents, kind: 'cancel' });
      case 'report':
        return this.#report(picked.computer_id, one.ok);
      case 'wait':
        this.#clock.advance(one.hours * 3_600_000);
        return this.#close();
      case 'processEvents':
        return this.#processEvents(children);
    }
  }

  async #processEvents(children: readonly ChildState[]): Promise<void> {
    for (const batch of new Set(children.map(({ lane_id }) => lane_id)))
      await this.#engine.processPendingEvents(batch, false);
    const after = await childrenOf(db, this.#activity);
    for (const [computer, audit] of this.#audits) {
      const steps = after.filter(({ computer_id }) => computer_id === computer);
      audit.state = stateAfter(audit, steps);
      if (steps.at(-1)!.status === 'succeeded') audit.audited ??= this.#clock.now().getTime();
      audit.steps = steps;
    }
    await this.compare();
  }

  /** Its agent sends what its audit found, once that is over. */
  async #report(computer: number, ok: boolean): Promise<void> {
    const audit = this.#audits.get(computer)!;
    const last = audit.steps.at(-1);
    if (last?.status !== 'succeeded' || audit.reported) return;
    const report = auditReport(ok ? ['pass', 'fixed'] : ['pass', 'fail']);
    const values = [last.id, computer, 'r', report, this.#clock.now()];
    await db.query('insert into usg_audit_report values ($1, $2, $3, $4, $5)', values);
    await ingestReports({ db, clock: this.#clock, read: async (bytes) => readAuditReport(bytes) });
    Object.assign(audit, { state: ok ? 'pass' : 'fail', reported: true });
    await this.compare();
  }

  /** Who has sent no report half an hour after its audit fails. */
  async #close(): Promise<void> {
    await failUnreported({ db, clock: this.#clock });
    for (const audit of this.#audits.values()) {
      const overdue = audit.audited !== null && audit.audited < this.#clock.now().getTime() - HALF_HOUR_MS;
      if (overdue && !audit.reported) audit.state = 'fail';
    }
    await this.compare();
  }

  async compare(): Promise<void> {
    const { lastRun, associatedInstances } = await this.#world.profiles.get(this.#world.caller, this.#profile);
    const of = (state: string) => [...this.#audits.values()].filter((audit) => audit.state === state).length;
    const steps = await childrenOf(db, this.#activity);
    const unended = steps.some(({ status }) => !['succeeded', 'failed', 'canceled'].includes(status));
    expect(lastRun).toMatchObject({
      not_started: of('not-started'),
      in_progress: of('in-progress'),
      passing: of('pass'),
      failing: of('fail'),
      open: unended || of('in-progress') > 0,
    });
    expect(associatedInstances).toBe(this.#world.computers.length);
  }

  /** Whatever came, a run is over once everything is canceled and no report is to be expected any more. */
  async finish(): Promise<void> {
    const batches = new Set((await childrenOf(db, this.#activity)).map(({ lane_id }) => lane_id));
    await this.run({ do: 'processEvents' });
    for (const batch of batches) await addEvent(db, { batch, activity: null, kind: 'cancel', at: this.#clock.now() });
    await this.run({ do: 'processEvents' });
    await this.run({ do: 'wait', hours: 1 });
    const { lastRun } = await this.#world.profiles.get(this.#world.caller, this.#profile);
    expect(lastRun!.open).toBe(false);
  }
}

function stateAfter({ state, steps: before, reported }: Audit, steps: readonly ChildState[]): string {
  if (reported) return state;
  if (steps.some(({ status }) => status === 'failed')) return 'fail';
  if (state === 'fail') return state;
  const moved = steps.filter((one, n) => one.status !== before[n]?.status);
  const canceled = moved.filter(({ status }) => status === 'canceled');
  const onward = moved.filter(({ status }) => status === 'delivered' || status === 'succeeded');
  if (canceled.length === 0 && onward.length === 0) return state;
  const inVain = onward.some(({ id }) => steps.some((one) => one.blocked_by === id && one.status === 'canceled'));
  return canceled.length > 0 || inVain ? 'not-started' : 'in-progress';
}

describe('the results of a run', () => {
  it('are those of its computers one by one, whatever comes in which order, and it ends', async () => {
    const run = fc.record({
      mode: fc.constantFrom(...MODES),
      computers: fc.integer({ min: 1, max: 3 }),
      steps: fc.array(step, { minLength: 5, maxLength: 40, size: 'max' }),
    });
    // A failure prints its seed and path, and the shortest steps that fail.
    await fc.assert(
      fc.asyncProperty(run, async ({ mode, computers, steps }) => {
        const trial = await RunTrial.start(mode, computers);
        for (const one of steps) await trial.run(one);
        await trial.finish();
      }),
      { seed: seedOr(20_261_124), numRuns: 15 },
    );
  });
});
