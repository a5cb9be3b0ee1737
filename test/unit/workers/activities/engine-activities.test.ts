import type { Client } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import type { Engine } from '../../../../src/services/engine/engine.ts';
import { createEngineActivities } from '../../../../workers/activities/engine.activities.ts';
import {
  DELIVERY_WAIT_MS,
  MOST_WAITING,
  ReportNotifications,
} from '../../../../workers/dispatcher/report-notifications.ts';

const DONE = { open: 0, succeeded: 0, failed: 0, canceled: 0, nextDueAt: null, waitingFor: [] };
const IDLE: Engine = {
  turnOf: async (batch) => ({ account: batch, isLarge: false, isReportExpected: false }),
  processPendingEvents: async () => DONE,
  listOpenBatches: async () => [],
  getGroupProgress: async () => ({ ...DONE, status: 'succeeded' as const }),
};
const client = {} as Client;
const LARGE_FROM = 1000;

it('runs the activity of a small batch before those of large batches, of its own account too', async () => {
  const started: number[] = [];
  let endLarge = () => {};
  const large = new Promise<void>((resolve) => {
    endLarge = resolve;
  });
  let reads = 0;
  const engine: Engine = {
    ...IDLE,
    turnOf: async (batch) => {
      reads += 1;
      return { account: batch % 2, isLarge: batch >= LARGE_FROM, isReportExpected: false };
    },
    processPendingEvents: async (batch) => {
      started.push(batch);
      if (batch >= LARGE_FROM) await large;
      return DONE;
    },
  };
  const steps = createEngineActivities({ engine, client, reports: new ReportNotifications(), concurrency: 4 });
  const fanOut = [1000, 1002, 1004, 1006, 1008].map((batch) => steps.processPendingEvents({ batch, cancelAll: false }));
  await steps.processPendingEvents({ batch: 1, cancelAll: false });
  await steps.processPendingEvents({ batch: 2, cancelAll: false });
  expect(started).toEqual([1000, 1002, 1, 2]);
  endLarge();
  await Promise.all(fanOut);
  await steps.processPendingEvents({ batch: 1, cancelAll: false });
  expect([started.length, reads]).toEqual([8, 7]);
});

describe('the first activity of one computer', () => {
  const FETCHED = 1;

  function startWorld(reports: ReportNotifications, over: Partial<Engine> = {}) {
    const processed: number[] = [];
    const engine: Engine = {
      ...IDLE,
      turnOf: async (batch) => ({ account: 1, isLarge: false, isReportExpected: batch === FETCHED }),
      processPendingEvents: async (batch) => {
        processed.push(batch);
        return DONE;
      },
      ...over,
    };
    return { processed, ...createEngineActivities({ engine, client, reports }) };
  }

  it('waits for the report that is expected, and for that one only', async () => {
    const reports = new ReportNotifications();
    const { processed, queueMessage } = startWorld(reports);
    const waiting = queueMessage({ batch: FETCHED });
    await queueMessage({ batch: 2 });
    reports.publish([2, 3]);
    await queueMessage({ batch: 3 });
    expect(processed).toEqual([2, 3]);
    reports.publish([3, FETCHED]);
    await waiting;
    expect(processed).toEqual([2, 3, FETCHED]);
  });

  it('misses no report that comes while it looks whether to expect one', async () => {
    const reports = new ReportNotifications();
    const { queueMessage } = startWorld(reports, {
      turnOf: async () => {
        reports.publish([FETCHED]);
        return { account: 1, isLarge: false, isReportExpected: true };
      },
    });
    const startedAt = performance.now();
    await queueMessage({ batch: FETCHED });
    expect(performance.now() - startedAt).toBeLessThan(DELIVERY_WAIT_MS);
  });

  it('waits only a few at a time', async () => {
    const reports = new ReportNotifications();
    const turnOf: Engine['turnOf'] = async () => ({ account: 1, isLarge: false, isReportExpected: true });
    const { processed, queueMessage } = startWorld(reports, { turnOf });
    const batches = Array.from({ length: MOST_WAITING }, (_, index) => index + 1);
    const waiting = batches.map((batch) => queueMessage({ batch }));
    await queueMessage({ batch: MOST_WAITING + 1 });
    expect(processed).toEqual([MOST_WAITING + 1]);
    reports.publish(batches);
    await Promise.all(waiting);
    expect(processed).toHaveLength(MOST_WAITING + 1);
  });

  it('goes on without a report after a while', async () => {
    const { processed, queueMessage } = startWorld(new ReportNotifications());
    await queueMessage({ batch: FETCHED });
    expect(processed).toEqual([FETCHED]);
  });
});
