import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { resolve } from 'node:path';

const PROJECT = resolve(import.meta.dirname, '../..');

/** Starts a program of the project with its output appended to a file. */
export function spawnProgram(args: readonly string[], env: Record<string, string>, outputFile: string): ChildProcess {
  const output = openSync(outputFile, 'a', 0o600);
  try {
    return spawn(process.execPath, ['--import', './src/process/require-node.mjs', ...args], {
      cwd: PROJECT,
      env,
      stdio: ['ignore', output, output],
      detached: true,
    });
  } finally {
    closeSync(output);
  }
}

/** GET without keep-alive; status 0 without a response. */
export async function get(url: string): Promise<{ status: number; text: string }> {
  try {
    const response = await fetch(url, { headers: { connection: 'close' }, signal: AbortSignal.timeout(5000) });
    return { status: response.status, text: await response.text() };
  } catch {
    return { status: 0, text: '' };
  }
}

/** A user's environment: without this test run's own settings, but with those that name programs. */
export function inheritedEnvironment(): Record<string, string> {
  const kept = ['FLOTILLA_TEMPORAL_SERVER_DIR'];
  const entries = Object.entries(process.env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined &&
      !/^(VITEST|NODE_OPTIONS|NODE_ENV|NODE_CHANNEL|TEST$)/.test(entry[0]) &&
      (!entry[0].startsWith('FLOTILLA_') || kept.includes(entry[0])),
  );
  return Object.fromEntries(entries);
}
