import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll } from 'vitest';
import type { ServerLimits } from '../../src/api/app/server.ts';
import { insertComputer } from '../support/computers/computers.ts';
import { createTestDatabase, type TestDatabase } from '../support/database/database.ts';
import { createAdmin, createTestApp } from '../support/http/app.ts';

/** What a process took from one moment to another. */
export interface Usage {
  seconds: number;
  cpuMs: number;
  /** Highest resident set above that at the start, MiB. */
  rssMb: number;
  /** 99th percentile of the CPU time that the serving thread took between two looks at its clock. */
  blockedMs: number;
  /** 99th percentile of the delay of the event loop, the machine's other work included. */
  delayMs: number;
}

interface Honest {
  /** Requests that the honest client was served meanwhile. */
  honest: number;
}

export type GuardCommand = 'start' | 'end' | 'calibrate' | 'stop';
export interface GuardReply {
  port?: number;
  usage?: Usage;
  calibrationMs?: number;
}

/** What an attack may take; times are those of the machine that {@link REFERENCE_MS} was measured on. */
interface Limits {
  cpuMs: number;
  rssMb: number;
  blockedMs: number;
}

/** @see docs/reliability.md#cost-of-an-attack */
export const LIMITS: Limits = { cpuMs: 1000, rssMb: 50, blockedMs: 50 };

/** CPU time of the calibration on the machine for which the limits are given. */
const REFERENCE_MS = 65;
const HONEST_PAUSE_MS = 40;
/** Honest requests whose cost is measured. */
const BASELINE = 25;
const ATTEMPTS = 4;
const PROGRAM = join(import.meta.dirname, 'guarded-server.ts');

/**
 * The whole server in a process of its own that measures itself. Times are compared with what the same process takes
 * for a fixed piece of work and for honest requests alone, and what is too much is measured a second time: a slow or
 * busy machine changes no verdict, work or memory that grows out of proportion does.
 */
class GuardedServer {
  readonly url: string;
  readonly #child: ChildProcess;
  readonly #token: string;
  #cpuPerHonest = 0;
  #slowness = 1;

  private constructor(child: ChildProcess, port: number, token: string) {
    this.#child = child;
    this.url = `http://127.0.0.1:${port}`;
    this.#token = token;
  }

  /** Slower than the reference by this factor, 1 at least. */
  get slowness(): number {
    return this.#slowness;
  }

  /**
   * @param token - of the honest client that goes on beside every attack
   * @param limits - of the listener, where a test cannot wait for the real ones
   */
  static async start(databaseUrl: string, token: string, limits: Partial<ServerLimits> = {}): Promise<GuardedServer> {
    const env = { ...process.env, GUARD_DATABASE_URL: databaseUrl, GUARD_HTTP_LIMITS: JSON.stringify(limits) };
    const child = fork(PROGRAM, { env, execArgv: ['--expose-gc'] });
    const { port } = await reply(child);
    if (port === undefined) throw new Error('the guarded server did not start');
    const server = new GuardedServer(child, port, token);
    await server.#command('calibrate');
    await server.#calibrate();
    await server.#findBaseline();
    return server;
  }

  /**
   * Lets an attack run while an honest client goes on, until it was served `atLeast` so many requests.
   *
   * @returns what the server took beyond serving the honest client
   * @throws when an honest request gets anything but 200
   */
  async measure(attack: () => Promise<unknown>, atLeast = 1): Promise<Usage & Honest> {
    await this.#command('start');
    let isOver = false;
    const served = this.#beHonest((count) => isOver && count >= atLeast);
    try {
      await attack();
    } finally {
      isOver = true;
    }
    const honest = await served;
    const { usage } = await this.#command('end');
    const cpuMs = Math.max(0, usage!.cpuMs - honest * this.#cpuPerHonest);
    return { ...usage!, cpuMs, honest };
  }

  /**
   * Holds an attack to limits. One that takes too much is carried out again, after a fresh calibration: the speed of a
   * shared processor changes from one second to the next, what an attack takes does not. A limit that holds once holds.
   *
   * @param limits - over {@link LIMITS}, with the reason at the caller
   * @returns the last measurement
   * @throws naming each limit that was exceeded every time
   */
  async expectHarmless(attack: () => Promise<unknown>, limits: Partial<Limits> = {}): Promise<Usage & Honest> {
    const allowed = { ...LIMITS, ...limits };
    let exceeded = Object.keys(LIMITS) as (keyof Limits)[];
    const measured: string[] = [];
    for (let attempt = 1; ; attempt++) {
      const usage = await this.measure(attack);
      const scaled = this.#scaled(allowed);
      exceeded = exceeded.filter((name) => usage[name] > scaled[name]);
      if (exceeded.length === 0) return usage;
      measured.push(exceeded.map((name) => `${name} ${usage[name].toFixed(0)} of ${scaled[name].toFixed(0)}`).join());
      if (attempt === ATTEMPTS) throw new Error(`the attack took too much: ${measured.join('; then ')}`);
      await this.#calibrate();
    }
  }

  #scaled(allowed: Limits): Limits {
    return {
      cpuMs: allowed.cpuMs * this.#slowness,
      rssMb: allowed.rssMb,
      blockedMs: allowed.blockedMs * this.#slowness,
    };
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.send('stop' satisfies GuardCommand);
    await ended;
  }

  async #findBaseline(): Promise<void> {
    // Everything is compiled and every connection open before anything is measured.
    await this.measure(async () => undefined, BASELINE);
    const { cpuMs, honest } = await this.measure(async () => undefined, BASELINE);
    this.#cpuPerHonest = cpuMs / honest;
  }

  async #calibrate(): Promise<void> {
    const { calibrationMs } = await this.#command('calibrate');
    this.#slowness = Math.max(1, calibrationMs! / REFERENCE_MS);
  }

  async #beHonest(isOver: (served: number) => boolean): Promise<number> {
    let served = 0;
    do {
      const headers = { authorization: `Bearer ${this.#token}` };
      const response = await fetch(`${this.url}/api/v2/person`, { headers, signal: AbortSignal.timeout(30_000) });
      if (response.status !== 200) throw new Error(`an honest client got ${response.status}`);
      await response.arrayBuffer();
      served++;
      await sleep(HONEST_PAUSE_MS);
    } while (!isOver(served));
    return served;
  }

  #command(command: GuardCommand): Promise<GuardReply> {
    this.#child.send(command);
    return reply(this.#child);
  }
}

function reply(child: ChildProcess): Promise<GuardReply> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null): void => reject(new Error(`the guarded server ended with ${code}`));
    child.once('exit', ended);
    child.once('message', (message) => {
      child.off('exit', ended);
      resolve(message as GuardReply);
    });
  });
}

/** A server that is measured, with an administrator and enough computers that a page without a bound would be seen. */
interface GuardedWorld {
  database: TestDatabase;
  server: GuardedServer;
  token: string;
  computerId: number;
  /** One request, with the administrator's token unless `headers` replace it. */
  call: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<{ status: number; text: string }>;
  close(): Promise<void>;
}

/** @param limits - of the listener, where a test cannot wait for the real ones */
async function createGuardedWorld(limits: Parameters<typeof GuardedServer.start>[2] = {}): Promise<GuardedWorld> {
  const database = await createTestDatabase();
  const { accountId } = await createAdmin(database.persistence);
  const computerId = await insertComputer(database.persistence.db, { accountId, title: 'web' });
  await fillFleet(database, accountId);
  const app = await createTestApp(database.persistence);
  const token = await app.login();
  await app.close();
  const server = await GuardedServer.start(database.url, token, limits);
  const call: GuardedWorld['call'] = async (method, path, body, headers = {}) => {
    const raw = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
    const url = `${server.url}${path.startsWith('/api') || path.startsWith('/m') ? '' : '/api/v2'}${path}`;
    const response = await fetch(url, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: raw as RequestInit['body'] }),
    });
    return { status: response.status, text: await response.text() };
  };
  const close = async (): Promise<void> => {
    await server.stop();
    await database.drop();
  };
  return { database, server, token, computerId, call, close };
}

/** One for all tests of a file, from their start to their end; nothing of it is there before. */
export function useGuardedWorld(limits?: Parameters<typeof createGuardedWorld>[0]): Omit<GuardedWorld, 'close'> {
  let world: GuardedWorld;
  beforeAll(async () => {
    world = await createGuardedWorld(limits);
  });
  afterAll(() => world?.close());
  return {
    get database() {
      return world.database;
    },
    get server() {
      return world.server;
    },
    get token() {
      return world.token;
    },
    get computerId() {
      return world.computerId;
    },
    call: (...request) => world.call(...request),
  };
}

async function fillFleet(database: TestDatabase, accountId: number): Promise<void> {
  await database.persistence.db.query(
    `insert into computer (account_id, access_group_id, state, title, hostname, tags, registered_at)
     select $1, (select id from access_group where account_id = $1 and name = 'global'), 'approved',
       'many-' || n, 'many-' || n || '.example.com', array['many'], now() from generate_series(1, 3000) n`,
    [accountId],
  );
  await database.persistence.db.query('analyze');
}

/** Does something several times, one after another. @throws unless all get one of the statuses */
export async function times(
  count: number,
  statuses: readonly number[],
  once: () => Promise<{ status: number }>,
): Promise<void> {
  for (let i = 0; i < count; i++) {
    const { status } = await once();
    if (!statuses.includes(status)) throw new Error(`got ${status} and not ${statuses.join(' or ')}`);
  }
}
