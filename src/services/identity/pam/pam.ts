import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { PamSettings } from '../../../process/config.ts';
import { DomainError, serviceBusy } from '../../../domain/common/errors.ts';
import type { Logger } from '../../../process/logger.ts';
import { ConcurrencyLimiter } from '../../../process/admission/concurrency-limiter.ts';
import type { IdentityAuthenticator } from '../../common/ports.ts';
import { rateLimitKey } from '../../../process/client-address.ts';

interface PamOptions {
  /** Program and arguments; the login is written to its standard input as `service NUL name NUL password NUL`. */
  command: readonly [string, ...string[]];
  service: string;
  programPath?: string;
  logger?: Logger;
  timeoutMs?: number;
}

const TIMEOUT_MS = 5000;
/** PAM delays a rejection for seconds without using the processor, so one address must not fill all slots. */
const LIMITS = { concurrency: 8, concurrencyPerKey: 6, maxQueued: 32, maxQueuedPerKey: 16 };
const EXIT_YES = 0;
const EXIT_NO = 1;

export function pamCommand(settings: Pick<PamSettings, 'helper'>): readonly [string, ...string[]] {
  return settings.helper === null ? ['python3', '-I', join(import.meta.dirname, 'helper.py')] : [settings.helper];
}

/** Each login in a helper process: modules may hang or crash. `verify` throws ServiceUnavailable when PAM fails. */
export function createPamAuthenticator(options: PamOptions): IdentityAuthenticator {
  const limiter = new ConcurrencyLimiter(LIMITS, () => serviceBusy('Too many logins at once'));
  return {
    async verify({ identity, password, address }) {
      const deadlineMs = performance.now() + (options.timeoutMs ?? TIMEOUT_MS);
      const task = () => runHelper(options, identity, password, deadlineMs);
      const outcome = await limiter.run(rateLimitKey(address), task);
      if (outcome === EXIT_YES || outcome === EXIT_NO) return outcome === EXIT_YES;
      options.logger?.warn({ outcome }, 'PAM could not check a login');
      throw new DomainError('ServiceUnavailable', 'Logins by identity are not possible now; try again shortly', {
        retryAfterSeconds: 5,
      });
    },
  };
}

function runHelper(
  options: PamOptions,
  identity: string,
  password: string,
  deadlineMs: number,
): Promise<number | string> {
  const remainingMs = deadlineMs - performance.now();
  if (remainingMs <= 0) return Promise.resolve('not started in time');
  const [program, ...args] = options.command;
  return new Promise((resolve) => {
    // In its own process group: PAM modules start helpers too, and the timeout must end all of them.
    const child = spawn(program, args, {
      stdio: ['pipe', 'ignore', 'ignore'],
      env: { PATH: options.programPath },
      detached: true,
    });
    const timer = setTimeout(() => {
      if (child.pid !== undefined) killGroup(child.pid);
      resolve('not done in time');
    }, remainingMs);
    const finish = (outcome: number | string) => {
      clearTimeout(timer);
      resolve(outcome);
    };
    child.once('error', (error: NodeJS.ErrnoException) => finish(error.code ?? 'could not be started'));
    child.once('exit', (status, signal) => finish(status ?? `killed by ${signal}`));
    // A helper may exit before it has read everything; its status gives the reason.
    child.stdin.on('error', () => undefined);
    child.stdin.end(`${options.service}\0${identity}\0${password}\0`);
  });
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The process has already exited.
  }
}
