import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { DomainError } from '../../../domain/common/errors.ts';
import type { PamSettings } from '../../../process/config.ts';
import type { Logger } from '../../../process/logger.ts';
import { inTurn } from '../../common/crowd.ts';
import { FairGate } from '../../common/fair-gate.ts';
import type { IdentityAuthenticator } from '../../common/ports.ts';
import { rateLimitKey } from '../../common/token-buckets.ts';

export interface PamOptions {
  /** Program and arguments; the login goes to its standard input as `service NUL name NUL password NUL`. */
  command: readonly [string, ...string[]];
  service: string;
  logger?: Logger;
  /** Longest time one login may take, waiting included. */
  limitMs?: number;
}

const LIMIT_MS = 5000;
/** A PAM stack holds a refusal back for seconds without using the processor: places that one address leaves to others. */
const LIMITS = { width: 8, share: 6, waiting: 32, waitingPerKey: 16 };
const EXIT_YES = 0;
const EXIT_NO = 1;

/** The helper of this folder, or the program that the settings name in its place. */
export function pamCommand(settings: PamSettings): readonly [string, ...string[]] {
  return settings.helper === null ? ['python3', '-I', join(import.meta.dirname, 'helper.py')] : [settings.helper];
}

/**
 * Lets the machine's PAM judge logins by identity. Each login is one short-lived helper process, so that a PAM module
 * that hangs or crashes takes nothing with it. Passwords travel by pipe alone.
 *
 * @remarks `verify` throws ServiceUnavailable when PAM cannot tell or is not done within the limit.
 */
export function createPamAuthenticator(options: PamOptions): IdentityAuthenticator {
  const gate = new FairGate(LIMITS);
  return {
    async verify({ identity, password, address }) {
      const deadlineMs = performance.now() + (options.limitMs ?? LIMIT_MS);
      const task = () => ask(options, identity, password, deadlineMs);
      const outcome = await inTurn(gate, rateLimitKey(address), 'Too many logins at once', task);
      if (outcome === EXIT_YES || outcome === EXIT_NO) return outcome === EXIT_YES;
      options.logger?.warn({ outcome }, 'PAM could not judge a login');
      throw new DomainError('ServiceUnavailable', 'Logins by identity are not possible now; try again shortly', {
        retryAfterSeconds: 5,
      });
    },
  };
}

/** Resolves with the helper's exit status, or with what became of it. */
function ask(options: PamOptions, identity: string, password: string, deadlineMs: number): Promise<number | string> {
  const leftMs = deadlineMs - performance.now();
  if (leftMs <= 0) return Promise.resolve('not started in time');
  const [program, ...args] = options.command;
  return new Promise((resolve) => {
    // A group of its own: PAM modules start helpers too, and all of them have to end with the limit.
    const child = spawn(program, args, {
      stdio: ['pipe', 'ignore', 'ignore'],
      env: { PATH: process.env['PATH'] },
      detached: true,
    });
    const limit = setTimeout(() => {
      if (child.pid !== undefined) killGroup(child.pid);
      resolve('not done in time');
    }, leftMs);
    const settle = (outcome: number | string) => {
      clearTimeout(limit);
      resolve(outcome);
    };
    child.once('error', (error: NodeJS.ErrnoException) => settle(error.code ?? 'could not be started'));
    child.once('exit', (status, signal) => settle(status ?? `killed by ${signal}`));
    // A helper that ends before it has read everything says why by its status.
    child.stdin.on('error', () => undefined);
    child.stdin.end(`${options.service}\0${identity}\0${password}\0`);
  });
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Ended by itself in this moment.
  }
}
