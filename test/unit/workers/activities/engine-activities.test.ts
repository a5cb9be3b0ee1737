import type { Client } from '@temporalio/client';
import { expect, it } from 'vitest';
import type { Engine } from '../../../../src/services/engine/engine.ts';
import { createEngineActivities } from '../../../../workers/activities/engine.activities.ts';

const DONE = { open: 0, succeeded: 0, failed: 0, canceled: 0, nextDueAt: null, waitingFor: [] };
const LARGE_FROM = 1000;

it('runs the activity of a small batch before those of large batches, of its own account too', async () => {
  const started: number[] = [];
  let endLarge = () => {};
  const large = new Promise<void>((resolve) => {
    endLarge = resolve;
  });
  let reads = 0;
  const engine: Engine = {
    turnOf: async (batch) => {
      reads += 1;
      return { account: batch % 2, isLarge: batch >= LARGE_FROM };
    },
    processPendingEvents: async (batch) => {
      started.push(batch);
      if (batch >= LARGE_FROM) await large;
      return DONE;
    },
    listOpenBatches: async () => [],
    getGroupProgress: async () => ({ ...DONE, status: 'succeeded' as const }),
  };
  const steps = createEngineActivities({ engine: engine, client: {} as Client, concurrency: 4 });
  const fanOut = [1000, 1002, 1004, 1006, 1008].map((batch) => steps.processPendingEvents({ batch, cancelAll: false }));
  await steps.processPendingEvents({ batch: 1, cancelAll: false });
  await steps.processPendingEvents({ batch: 2, cancelAll: false });
  expect(started).toEqual([1000, 1002, 1, 2]);
  endLarge();
  await Promise.all(fanOut);
  await steps.processPendingEvents({ batch: 1, cancelAll: false });
  expect([started.length, reads]).toEqual([8, 7]);
});
