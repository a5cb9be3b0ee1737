import { spawn } from 'node:child_process';

export interface ToolOptions {
  cwd?: string;
  env: Record<string, string | undefined>;
  /** The tool and its children are killed after this many milliseconds. */
  limitMs: number;
  onError?: (text: string) => void;
  /** Called every second; a text kills the tool with this reason. */
  stalled?: () => string | null;
  signal?: AbortSignal;
}

const KEPT_CHARACTERS = 4000;

/**
 * Runs a program to its end and resolves to what it wrote to standard output.
 * @throws when it cannot be started, fails, or takes longer than allowed, with the end of its output
 */
export function runTool(program: string, args: readonly string[], options: ToolOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: options.cwd,
      env: options.env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    let err = '';
    let reason: string | null = null;
    const kill = (why: string): void => {
      reason ??= why;
      try {
        if (child.pid) process.kill(-child.pid, 'SIGKILL');
      } catch {
        child.kill('SIGKILL');
      }
    };
    const limit = setTimeout(() => kill(`gave up after ${Math.round(options.limitMs / 1000)} s`), options.limitMs);
    const watch = setInterval(() => {
      const why = options.stalled?.();
      if (why) kill(why);
    }, 1000);
    const abort = (): void => kill('interrupted');
    const exit = (): void => kill('interrupted');
    options.signal?.addEventListener('abort', abort);
    process.once('exit', exit);
    child.stdout.on('data', (chunk) => {
      out = (out + String(chunk)).slice(-KEPT_CHARACTERS);
    });
    child.stderr.on('data', (chunk) => {
      err = (err + String(chunk)).slice(-KEPT_CHARACTERS);
      options.onError?.(String(chunk));
    });
    const finish = (failure: string | null): void => {
      clearTimeout(limit);
      clearInterval(watch);
      options.signal?.removeEventListener('abort', abort);
      process.off('exit', exit);
      if (failure === null) resolve(out);
      else reject(new Error(failure));
    };
    child.once('error', (error) => finish(`could not run ${program}: ${error.message}`));
    child.once('close', (code, signal) => {
      if (code === 0 && reason === null) return finish(null);
      const output = (err.trim() || out.trim()).split('\n').slice(-4).join(' | ');
      finish(reason ?? `${program} ${signal ? `was killed by ${signal}` : `failed with code ${code}`}: ${output}`);
    });
  });
}
