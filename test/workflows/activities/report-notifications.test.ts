import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RESULTS_CHANNEL } from '../../../src/persistence/activities/outbox.sql.ts';
import { type ActivityRuntime, createActivityRuntime } from '../../support/activities/activity-runtime.ts';

const TEN_SECONDS_MS = 10_000;

let runtime: ActivityRuntime;

beforeAll(async () => {
  runtime = await createActivityRuntime();
  runtime.startDispatcher();
});

afterAll(async () => {
  await runtime?.close();
});

describe('a dispatcher', () => {
  it('passes on which batches have reports', async () => {
    const startedAt = performance.now();
    const isPublished = runtime.reports.wait(8, TEN_SECONDS_MS, async () => true);
    const notify = () => runtime.db.query(`select pg_notify('${RESULTS_CHANNEL}', '7 8')`);
    // Until the dispatcher listens.
    const again = setInterval(() => void notify(), 100);
    await isPublished;
    clearInterval(again);
    expect(performance.now() - startedAt).toBeLessThan(TEN_SECONDS_MS);
  });
});
