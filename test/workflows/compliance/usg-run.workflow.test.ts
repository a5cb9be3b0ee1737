import { WorkflowFailedError } from '@temporalio/client';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../../src/persistence/database/sql.ts';
import { ingestReports } from '../../../src/services/compliance/audits/ingest.ts';
import { readAuditReport } from '../../../src/services/compliance/audits/read-report.ts';
import { createEngine, type Engine } from '../../../src/services/engine/engine.ts';
import { createEngineActivities } from '../../../workers/activities/engine.activities.ts';
import { groupWorkflow } from '../../../workflows/contracts/workflow-types.ts';
import { addEvent, childrenOf } from '../../support/activities/activity-rows.ts';
import { auditReport, createUsgWorld } from '../../support/compliance/usg.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { createSkippedServer, SkippedClock } from '../../support/temporal/skipped-time.ts';
import { statusOf, until, wakeUp, withWorker } from '../../support/temporal/workflow-environment.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DELAY_HOURS = 6;
const WINDOW_MINUTES = 90;

let environment: TestWorkflowEnvironment;
let database: TestDatabase;
let db: Database;
const clock = new SkippedClock(() => environment);

beforeAll(async () => {
  environment = await createSkippedServer();
  database = await createTestDatabase();
  db = database.persistence.db;
});

afterAll(async () => {
  await environment?.teardown();
  await database?.drop();
});

/** A run whose agents are played by hand. */
class PlayedRun {
  readonly #group: number;
  readonly computers: readonly number[];

  constructor(group: number, computers: readonly number[]) {
    this.#group = group;
    this.computers = computers;
  }

  async steps(computer: number) {
    return (await childrenOf(db, this.#group)).filter(({ computer_id }) => computer_id === computer);
  }

  async statuses(computer: number) {
    return (await this.steps(computer)).map(({ status }) => status);
  }

  /** Lets every computer fetch what is due now. @returns the step each of them got */
  async fetch(): Promise<Map<number, number>> {
    const due = await db.query<{ activity_id: number; computer_id: number }>(DUE, [
      this.computers,
      new Date(await clock.read()),
    ]);
    const fetched = new Map<number, number>();
    for (const { activity_id, computer_id } of due) {
      const steps = await this.steps(computer_id);
      const step = steps.findIndex(({ id }) => id === activity_id);
      fetched.set(computer_id, step);
      await this.#notify(computer_id, step, 'delivered', true);
    }
    return fetched;
  }

  /** Lets a computer report a step; a successful audit is followed by the report. */
  async report(computer: number, step: number, ok = true): Promise<void> {
    await clock.read();
    await this.#notify(computer, step, 'result', ok);
    const { id } = (await this.steps(computer))[step]!;
    if (step !== 2 || !ok) return;
    const values = [id, computer, 'r', auditReport(['pass']), clock.now()];
    await db.query('insert into usg_audit_report values ($1, $2, $3, $4, $5)', values);
    await ingestReports({ db, clock, read: async (report) => readAuditReport(report) });
  }

  async #notify(computer: number, step: number, kind: 'delivered' | 'result', ok: boolean): Promise<void> {
    const { id, lane_id } = (await this.steps(computer))[step]!;
    await addEvent(db, { batch: lane_id, activity: id, kind, ok, at: clock.now() });
    const [row] = await db.query<{ wf_id: string }>('select wf_id from lane where id = $1', [lane_id]);
    await wakeUp(environment.client, row!.wf_id);
  }
}

const DUE = `
  update agent_message set state = 'sent', sent_at = $2
  where computer_id = any($1::int[]) and state = 'queued' and deliver_at <= $2 returning activity_id, computer_id`;

/** An engine whose clock is the server's. */
function skippingEngine(): Engine {
  const store = createEngine({ db, clock, settings: { expiryDays: 30 } });
  return {
    ...store,
    processPendingEvents: async (id, cancelAll) => {
      await clock.read();
      return store.processPendingEvents(id, cancelAll);
    },
  };
}

describe('a run that fixes, restarts and audits', () => {
  it('restarts each computer hours after its fix, spread over the window, and audits after the restart', async () => {
    await clock.read();
    const world = await createUsgWorld(db, clock, 4);
    const profile = await world.create({
      mode: 'fix-restart-audit',
      restartDelayHours: DELAY_HOURS,
      restartWindowMinutes: WINDOW_MINUTES,
      startDate: clock.now().toISOString(),
    });
    const [stored] = await world.runs(profile);
    const group = stored!.activity_id!;
    const run = new PlayedRun(group, world.computers);
    const [broken, ...sound] = run.computers as [number, number, number, number];
    const setup = {
      connection: environment.nativeConnection,
      namespace: undefined,
      activities: createEngineActivities({ engine: skippingEngine(), client: environment.client }),
    };
    await withWorker(setup, async (taskQueue) => {
      const workflowId = `activity/${group}`;
      const handle = await environment.client.workflow.start(groupWorkflow('UsgActivity'), {
        taskQueue,
        workflowId,
        args: [{ id: group }],
      });
      const queued = async () =>
        (await db.query('select 1 from agent_message where computer_id = any($1)', [run.computers])).length === 4;
      await until(queued);
      expect([...(await run.fetch()).values()]).toEqual([0, 0, 0, 0]);
      await run.report(broken, 0, false);
      for (const computer of sound) await run.report(computer, 0);
      await until(async () => (await run.statuses(broken))[2] === 'canceled');
      expect(await run.statuses(broken)).toEqual(['failed', 'canceled', 'canceled']);
      for (const computer of sound) await until(async () => (await run.statuses(computer))[1] === 'undelivered');
      const fixedAt = await clock.read();

      const moments: number[] = [];
      for (const computer of sound) {
        const deliverAt = (await run.steps(computer))[1]!.deliver_at!.getTime() - fixedAt;
        expect(deliverAt).toBeGreaterThanOrEqual(DELAY_HOURS * HOUR_MS - MINUTE_MS);
        expect(deliverAt).toBeLessThanOrEqual(DELAY_HOURS * HOUR_MS + WINDOW_MINUTES * MINUTE_MS);
        moments.push(deliverAt);
      }
      expect(new Set(moments).size).toBe(sound.length);

      await environment.sleep(DELAY_HOURS * HOUR_MS - 2 * MINUTE_MS);
      expect((await run.fetch()).size).toBe(0);
      await environment.sleep((WINDOW_MINUTES + 4) * MINUTE_MS);
      expect(await run.fetch()).toEqual(new Map(sound.map((computer) => [computer, 1])));
      expect(await world.profiles.get(world.caller, profile)).toMatchObject({
        lastRun: { in_progress: 3, failing: 1, not_started: 0, open: true },
      });
      for (const computer of sound) {
        await run.report(computer, 1);
        await until(async () => (await run.statuses(computer))[2] === 'undelivered');
      }
      expect(await run.fetch()).toEqual(new Map(sound.map((computer) => [computer, 2])));
      for (const computer of sound) await run.report(computer, 2);
      await expect(handle.result()).rejects.toBeInstanceOf(WorkflowFailedError);
      expect(await statusOf(environment.client, workflowId)).toBe('FAILED');
    });
    expect(await world.profiles.get(world.caller, profile)).toMatchObject({
      lastRun: { passing: 3, failing: 1, in_progress: 0, not_started: 0, open: false },
    });
  });
});
