import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerLimits } from '../../src/api/server.ts';

/** What a process took from one moment to another. */
export interface Usage {
  seconds: number;
  cpuMs: number;
  /** Highest resident set above that at the beginning, MiB. */
  rssMb: number;
  /** 99th percentile of the CPU time that the serving thread took between two looks at its clock. */
  blockedMs: number;
  /** 99th percentile of the delay of the event loop, the machine's other work included. */
  delayMs: number;
}

export type GuardCommand = 'begin' | 'end' | 'calibrate' | 'stop';
export interface GuardReply {
  port?: number;
  usage?: Usage;
  calibrationMs?: number;
}

/** What an attack may take; times are those of the machine that {@link REFERENCE_MS} was measured on. */
export interface Limits {
  cpuMs: number;
  rssMb: number;
  blockedMs: number;
}

/** Twice the time of a block that is meant, as a starved processor counts more for the same work. @see perf-reliability B2, 9 */
export const LIMITS: Limits = { cpuMs: 1000, rssMb: 50, blockedMs: 100 };

/** CPU time of the calibration on the machine for which the limits are given. */
const REFERENCE_MS = 65;
const HONEST_PAUSE_MS = 40;
const BASELINE_MS = 1000;
const PROGRAM = join(import.meta.dirname, 'guarded-server.ts');

/**
 * The whole server in a process of its own that measures itself. Times are compared with what the same process takes
 * for a fixed piece of work and for honest requests alone: a slow or busy machine changes no verdict, work or memory
 * that grows out of proportion does.
 */
export class GuardedServer {
  readonly url: string;
  /** Slower than the reference by this factor, 1 at least. */
  readonly slowness: number;
  readonly #child: ChildProcess;
  readonly #token: string;
  #cpuPerHonest = 0;

  private constructor(child: ChildProcess, port: number, token: string, calibrationMs: number) {
    this.#child = child;
    this.url = `http://127.0.0.1:${port}`;
    this.#token = token;
    this.slowness = Math.max(1, calibrationMs / REFERENCE_MS);
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
    child.send('calibrate' satisfies GuardCommand);
    await reply(child);
    child.send('calibrate' satisfies GuardCommand);
    const { calibrationMs } = await reply(child);
    const server = new GuardedServer(child, port, token, calibrationMs!);
    await server.#findBaseline();
    return server;
  }

  /**
   * Lets an attack run while an honest client goes on.
   *
   * @returns what the server took beyond serving the honest client
   * @throws when an honest request is answered anything but 200
   */
  async measure(attack: () => Promise<unknown>): Promise<Usage & { honest: number }> {
    await this.#ask('begin');
    let isOver = false;
    const honest = this.#beHonest(() => isOver);
    try {
      await attack();
    } finally {
      isOver = true;
    }
    const count = await honest;
    const { usage } = await this.#ask('end');
    return { ...usage!, cpuMs: Math.max(0, usage!.cpuMs - count * this.#cpuPerHonest), honest: count };
  }

  /**
   * @param limits - over {@link LIMITS}, with the reason at the caller
   * @throws naming each limit that was exceeded
   */
  async expectHarmless(attack: () => Promise<unknown>, limits: Partial<Limits> = {}): Promise<Usage> {
    const usage = await this.measure(attack);
    const allowed = { ...LIMITS, ...limits };
    const scaled = { ...allowed, cpuMs: allowed.cpuMs * this.slowness, blockedMs: allowed.blockedMs * this.slowness };
    const over = (Object.keys(LIMITS) as (keyof Limits)[]).filter((name) => usage[name] > scaled[name]);
    if (over.length > 0) {
      const texts = over.map((name) => `${name} ${usage[name].toFixed(0)} of ${scaled[name].toFixed(0)}`);
      throw new Error(`the attack took too much: ${texts.join(', ')} (${JSON.stringify(usage)})`);
    }
    return usage;
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.send('stop' satisfies GuardCommand);
    await ended;
  }

  async #findBaseline(): Promise<void> {
    // Everything is compiled and every connection open before anything is measured.
    await this.measure(() => sleep(BASELINE_MS / 2));
    const { cpuMs, honest } = await this.measure(() => sleep(BASELINE_MS));
    this.#cpuPerHonest = cpuMs / honest;
  }

  async #beHonest(isOver: () => boolean): Promise<number> {
    let count = 0;
    do {
      const headers = { authorization: `Bearer ${this.#token}` };
      const answer = await fetch(`${this.url}/api/v2/person`, { headers, signal: AbortSignal.timeout(30_000) });
      if (answer.status !== 200) throw new Error(`an honest client was answered ${answer.status}`);
      await answer.arrayBuffer();
      count++;
      await sleep(HONEST_PAUSE_MS);
    } while (!isOver());
    return count;
  }

  #ask(command: GuardCommand): Promise<GuardReply> {
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
