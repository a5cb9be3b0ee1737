import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAccount } from '../../tools/harness/accounts.ts';
import type { AgentRecord } from '../../tools/simulator/state-file.ts';
import { startGateway, type TestGateway } from '../support/agents/fleet-world.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway?.close());

/** What the agent had, as it was saved. */
function intervalsIn(stateFile: string): unknown[] {
  const lines = readFileSync(stateFile, 'utf8').trim().split('\n');
  return lines.flatMap((line) => (JSON.parse(line) as Partial<AgentRecord>).intervals ?? []);
}

it('a simulated computer polls fast while it works, then as its account prefers', async () => {
  const { db } = gateway.database.persistence;
  const { accountId } = await createAccount(db, 'standalone');
  const stateFile = join(mkdtempSync(join(tmpdir(), 'flotilla-')), 'fleet.json');
  const fleet = gateway.fleet({ stateFile });
  const [computer] = fleet.computers;
  try {
    await fleet.start();
    await fleet.settled(10_000);
    const day = { ping: 86_400, urgent_exchange: 86_400, exchange: 86_400 };
    await db.query('update account set agent_intervals = $2 where id = $1', [accountId, day]);
    const operation = await gateway.give(computer!.computerId!, 'install-snaps', { snaps: [{ name: 'hello' }] });
    computer!.exchangeSoon();
    expect(await gateway.resultsOf(operation, fleet)).toMatchObject([{ ok: true }]);
    const dayMs = 86_400_000;
    const slow = { pingMs: dayMs, urgentMs: dayMs, exchangeMs: dayMs };
    await expect.poll(() => intervalsIn(stateFile).at(-1)).toEqual(slow);
    expect(intervalsIn(stateFile)).toContainEqual({ ...slow, pingMs: 10_000, urgentMs: 10_000 });
    expect([...fleet.violations]).toEqual([]);
  } finally {
    await fleet.stop();
  }
});
