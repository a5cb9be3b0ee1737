import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccount } from '../../tools/harness/accounts.ts';
import { type Execution, readExecutionLog } from '../../tools/simulator/execution-log.ts';
import { startGateway, type TestGateway } from '../support/agents/fleet-world.ts';

const COMPUTERS = 20;
const KILLS_AT = [3, 9, 15];

let gateway: TestGateway;
let running: ChildProcess | null = null;
const folder = mkdtempSync(join(tmpdir(), 'fleet-process-'));
const executionLog = join(folder, 'execution-log');

beforeAll(async () => {
  gateway = await startGateway();
  await createAccount(gateway.database.persistence.db, 'standalone');
});

afterAll(async () => {
  running?.kill('SIGKILL');
  await gateway?.close();
  rmSync(folder, { recursive: true });
});

function launch(...options: string[]): ChildProcess {
  const all = [
    '--url',
    gateway.url,
    '--computers',
    String(COMPUTERS),
    '--state',
    join(folder, 'state'),
    '--execution-log',
    executionLog,
  ];
  const times = [
    '--ping-interval',
    '0.3',
    '--urgent-interval',
    '0.2',
    '--operation-time',
    '0.5',
    '--retry-interval',
    '0.2',
  ];
  const stdio = ['ignore', 'pipe', 'pipe'] as const;
  return spawn(process.execPath, ['tools/simulator/main.ts', ...all, ...times, ...options], { stdio: [...stdio] });
}

async function line(child: ChildProcess, wanted: string): Promise<void> {
  for await (const text of createInterface({ input: child.stderr! })) if (text.includes(wanted)) return;
  throw new Error(`the fleet never printed "${wanted}"`);
}

function executions(): Execution[] {
  return existsSync(executionLog) ? readExecutionLog(executionLog) : [];
}

/** Computers that still check in; a registration whose response was lost leaves another one. */
function computersOfTheFleet(): Promise<{ id: number }[]> {
  return gateway.database.persistence.db.query(`select max(id) as id from computer group by title order by max(id)`);
}

async function kill(signal: NodeJS.Signals): Promise<number | null> {
  const ended = once(running!, 'exit');
  running!.kill(signal);
  const [code] = (await ended) as [number | null];
  running = null;
  return code;
}

const byNumber = (a: number, b: number): number => a - b;

describe('npm run fleet', () => {
  it('enrols in the end although it is killed meanwhile', async () => {
    for (const state of ['fleet started', 'fleet enrolling', 'fleet enrolled']) {
      running = launch();
      await line(running, state);
      await kill('SIGKILL');
    }
    const [pending] = await gateway.database.persistence.db.query(
      `select count(*)::int as count from computer where state <> 'approved'`,
    );
    expect(pending).toEqual({ count: 0 });
  }, 60_000);

  it('loses and repeats nothing when it is killed again and again', async () => {
    running = launch();
    await line(running, 'fleet enrolled');
    const rows = await computersOfTheFleet();
    const script = { username: 'root', interpreter: '/bin/sh', code: 'true', 'time-limit': 9, attachments: {} };
    const giveAll = () => Promise.all(rows.map(({ id }) => gateway.give(id, 'execute-script', script)));
    const resultsOf = (ids: readonly number[]) => Promise.all(ids.map((id) => gateway.resultsOf(id)));
    const ids = await giveAll();
    for (const count of KILLS_AT) {
      await expect.poll(() => executions().length, { timeout: 15_000, interval: 5 }).toBeGreaterThanOrEqual(count);
      await kill('SIGKILL');
      running = launch();
    }
    await resultsOf(ids);
    const executed = executions().map(({ operationId }) => operationId);
    expect(executed.sort(byNumber)).toEqual(ids.sort(byNumber));
    // Results of a computer come in order: a second one would be there before those of other operations.
    await resultsOf(await giveAll());
    expect((await resultsOf(ids)).map((all) => all.length)).toEqual(ids.map(() => 1));
    expect(await computersOfTheFleet()).toEqual(rows);
  }, 90_000);

  it('stops in order on SIGTERM', async () => {
    running ??= launch();
    await line(running, 'fleet started');
    expect(await kill('SIGTERM')).toBe(0);
  });

  it('names a wrong option and ends with 1', async () => {
    const child = launch('--offline', '2');
    let text = '';
    child.stderr!.on('data', (chunk) => {
      text += chunk;
    });
    const [code] = await once(child, 'exit');
    expect([code, text]).toEqual([1, expect.stringContaining('--offline must be a number from 0 to 1')]);
  });

  it('explains itself', async () => {
    const child = launch('--help');
    let text = '';
    child.stdout!.on('data', (chunk) => {
      text += chunk;
    });
    await once(child, 'exit');
    expect(text).toContain('--die-after');
  });

  it('rejects the state of another seed', async () => {
    const child = launch('--seed', '2');
    let text = '';
    child.stderr!.on('data', (chunk) => {
      text += chunk;
    });
    const [code] = await once(child, 'exit');
    expect([code, text]).toEqual([1, expect.stringContaining('belongs to a fleet of seed 1')]);
  });
});
