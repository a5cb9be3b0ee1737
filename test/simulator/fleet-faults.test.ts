import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createAccount } from '../../tools/harness/accounts.ts';
import { readExecutionLog } from '../../tools/simulator/execution-log.ts';
import type { Fleet, FleetOptions, SimulatedComputer } from '../../tools/simulator/fleet.ts';
import { startGateway, type TestGateway } from '../support/agents/fleet-world.ts';

const install = { snaps: [{ name: 'hello' }] };
const folder = mkdtempSync(join(tmpdir(), 'fleet-'));
const fleets: Fleet[] = [];
let gateway: TestGateway;
let seed = 100;

beforeAll(async () => {
  gateway = await startGateway();
  await createAccount(gateway.database.persistence.db, 'standalone');
});

afterEach(async () => {
  await Promise.all(fleets.splice(0).map((fleet) => fleet.stop()));
});

afterAll(async () => {
  await gateway?.close();
  rmSync(folder, { recursive: true });
});

async function aComputer(options: Partial<FleetOptions> = {}) {
  const fleet = gateway.fleet({ seed: seed++, ...options });
  fleets.push(fleet);
  await fleet.start();
  await fleet.settled(30_000);
  return { fleet, computer: fleet.computers[0]!, other: fleet.computers[1] };
}

/** A second operation comes after a whole interval of pings: longer than an online computer takes for one. */
async function carriesOutTwo({ computerId }: SimulatedComputer): Promise<void> {
  for (let n = 0; n < 2; n++) await gateway.resultsOf(await gateway.give(computerId!, 'install-snaps', install));
}

describe('faults of one computer', () => {
  it.each([
    ['its response is lost', 'lostResponses', 1],
    ['it sends twice', 'duplicateSends', 1],
    ['it dies before executing', 'dieBefore', 1],
    ['it dies after executing', 'dieAfter', 2],
  ] as const)('when %s has one result', async (_, fault, executions) => {
    const { fleet, computer } = await aComputer();
    computer.options.next[fault] = 1;
    const id = await gateway.give(computer.computerId!, 'install-snaps', install);
    expect(await gateway.resultsOf(id, fleet)).toHaveLength(1);
    expect(fleet.executionLog.count(computer.title, id)).toBe(executions);
    expect([...fleet.violations]).toEqual([]);
  });

  it('is offline: its operation waits until it is back', async () => {
    const { fleet, computer, other } = await aComputer({ computers: 2 });
    computer.options.offline = true;
    const id = await gateway.give(computer.computerId!, 'install-snaps', install);
    await carriesOutTwo(other!);
    expect(fleet.executionLog.count(computer.title, id)).toBe(0);
    computer.options.offline = false;
    expect(await gateway.resultsOf(id)).toMatchObject([{ ok: true }]);
  });

  it('fails the operations it was configured to fail', async () => {
    const { computer } = await aComputer();
    computer.options.failing = 1;
    const id = await gateway.give(computer.computerId!, 'install-snaps', install);
    expect(await gateway.resultsOf(id)).toMatchObject([{ ok: false }]);
  });

  it('stays offline once turned off, until it is turned on', async () => {
    const { fleet, computer, other } = await aComputer({ computers: 2 });
    const off = await gateway.give(computer.computerId!, 'shutdown', { reboot: false });
    expect(await gateway.resultsOf(off)).toMatchObject([{ ok: true }]);
    await expect.poll(() => computer.isDown).toBe(true);
    const id = await gateway.give(computer.computerId!, 'install-snaps', install);
    await carriesOutTwo(other!);
    expect(fleet.executionLog.count(computer.title, id)).toBe(0);
    computer.powerOn();
    expect(await gateway.resultsOf(id)).toMatchObject([{ ok: true }]);
    expect(computer.machine.boots).toBe(1);
  });

  it('stays offline when it belongs to the share that is offline', async () => {
    const { fleet, computer } = await aComputer({ shares: { offline: 1 } });
    expect([computer.options.offline, computer.isEnrolled, fleet.violations.size]).toEqual([true, true, 0]);
  });

  it('keeps identity, snaps and packages over a restart of the simulator', async () => {
    const stateFile = join(folder, 'restart');
    const first = await aComputer({ stateFile, seed: 500 });
    const { computerId } = first.computer;
    const id = await gateway.give(computerId!, 'install-snaps', install);
    await gateway.resultsOf(id);
    await first.fleet.settled(10_000);
    await first.fleet.stop();
    const second = await aComputer({ stateFile, seed: 500 });
    expect(second.computer.computerId).toBe(computerId);
    expect(second.computer.machine.snaps.map(({ name }) => name)).toContain('hello');
    expect(second.fleet.executionLog.count(second.computer.title, id)).toBe(0);
    expect([...second.fleet.violations]).toEqual([]);
  });

  it('enrols again when its identity no longer exists', async () => {
    const { fleet, computer } = await aComputer();
    const before = computer.computerId;
    await gateway.database.persistence.db.query(
      'update agent_identity set secure_id_hash = $2 where computer_id = $1',
      [before, Buffer.from('gone')],
    );
    computer.exchangeSoon();
    await expect.poll(() => computer.computerId !== before && computer.isSettled, { timeout: 10_000 }).toBe(true);
    expect([...fleet.violations]).toEqual([]);
  });

  it('waits for an account that does not exist yet', async () => {
    const fleet = gateway.fleet({ seed: seed++, account: 'later' });
    fleets.push(fleet);
    await fleet.start();
    await expect.poll(() => fleet.statistics.exchanges).toBeGreaterThan(2);
    expect(fleet.computers[0]!.isEnrolled).toBe(false);
    await createAccount(gateway.database.persistence.db, 'later');
    await fleet.settled(10_000);
  });

  it('writes its execution log before the result goes out', async () => {
    const executionLogFile = join(folder, 'execution-log');
    const { computer } = await aComputer({ executionLogFile });
    const id = await gateway.give(computer.computerId!, 'install-snaps', install);
    await gateway.resultsOf(id);
    expect(readExecutionLog(executionLogFile)).toMatchObject([
      { computer: computer.title, computerId: computer.computerId, operationId: id, type: 'install-snaps', count: 1 },
    ]);
  });
});
