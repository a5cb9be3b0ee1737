import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLogger } from '../../src/process/logger.ts';
import { startFleetGauges } from '../../workers/telemetry/fleet-gauges.ts';
import { aGroup, anAccount } from '../support/activities/activity-rows.ts';
import { type ActivityRuntime, createActivityRuntime } from '../support/activities/activity-runtime.ts';

let runtime: ActivityRuntime;

beforeAll(async () => {
  runtime = await createActivityRuntime();
});
afterAll(() => runtime?.close());

it('the age of the oldest command grows while the dispatcher is stopped, and falls when it runs again', async () => {
  const registry = new Registry();
  const logger = createLogger({ level: 'silent', role: 'test' });
  const gauges = startFleetGauges({ db: runtime.db, registry, logger, isLeader: () => true, everyMs: 50 });
  const oldest = async (): Promise<number> => {
    const [, value] = /^flotilla_outbox_oldest_seconds (\S+)$/m.exec(await registry.metrics()) ?? [];
    return Number(value);
  };
  const account = await anAccount(runtime.db, { computers: 3 });
  await expect.poll(oldest, { timeout: 20_000 }).toBe(0);
  await aGroup(runtime.db, account);
  await expect.poll(oldest, { timeout: 20_000 }).toBeGreaterThan(0);
  const before = await oldest();
  await expect.poll(oldest, { timeout: 20_000 }).toBeGreaterThan(before);
  expect(await registry.metrics()).toContain('flotilla_outbox_rows{kind="start"} 1');
  runtime.startDispatcher();
  await expect.poll(oldest, { timeout: 30_000 }).toBe(0);
  await gauges.stop();
});
