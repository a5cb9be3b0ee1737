import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadInChild, prepareInService } from '../../../tools/stack/processes/child-call.ts';
import { startNodeProcess } from '../../../tools/stack/processes/node-process.ts';
import { isAlive, waitUntil } from '../../../tools/stack/processes/processes.ts';
import { StackError } from '../../../tools/stack/stack-error.ts';
import { PROJECT } from '../../../tools/stack/topology/roles.ts';

const STACK_ERROR = JSON.stringify(join(PROJECT, 'tools/stack/stack-error.ts'));
const MODULE = `
import { existsSync, writeFileSync } from 'node:fs';
import { StackError } from ${STACK_ERROR};
export const describe = async (key, names) => ({ pid: process.pid, key: key.toString('utf8'), names: [...names] });
export const refuse = async (why) => { throw new StackError(why); };
export const fail = async () => { throw new TypeError('a bug'); };
export const end = async () => { console.log('out of memory'); process.exit(7); };
export const hang = async () => { setInterval(() => undefined, 1000); await new Promise(() => undefined); };
export const isMainLoaded = async () => globalThis.isMainLoaded === true;
export const endOnce = async (file) => {
  if (existsSync(file)) return process.pid;
  writeFileSync(file, '');
  process.exit(7);
};
`;
/** As a process of the stack: waits for its start, reports that it serves, and prints what it was started with. */
const SERVICE = `
globalThis.isMainLoaded = true;
process.on('message', (message) => {
  if (!message.start) return;
  console.log(JSON.stringify({ pid: process.pid, options: process.execArgv, args: process.argv.slice(2) }));
  process.send({ ready: true });
});
`;

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'flotilla-child-'));
  await writeFile(join(directory, 'module.mjs'), MODULE);
  await writeFile(join(directory, 'service.mjs'), SERVICE);
});

afterAll(async () => {
  await rm(directory, { recursive: true });
});

function load<Called extends (...args: never[]) => Promise<unknown>>(
  name: string,
  signal = new AbortController().signal,
) {
  const options = { env: process.env, logFile: join(directory, `${name}.log`), signal };
  return loadInChild<Called>(join(directory, 'module.mjs'), name, options);
}

describe('a function in a child', () => {
  it('gets its arguments as they are, returns its result, and leaves no process behind', async () => {
    const call = load<(key: Buffer, names: Set<string>) => Promise<{ pid: number }>>('describe');
    const result = await call(Buffer.from('key'), new Set(['a', 'b']));
    expect(result).toEqual({ pid: expect.any(Number), key: 'key', names: ['a', 'b'] });
    expect(result.pid).not.toBe(process.pid);
    expect(await waitUntil(() => !isAlive(result.pid), 5000)).toBe(true);
  });

  it('throws its error: what a user can mend without a stack, a bug with it', async () => {
    await expect(load<(why: string) => Promise<void>>('refuse')('no space left')).rejects.toThrow(
      new StackError('no space left'),
    );
    const bug = await load<() => Promise<void>>('fail')().catch((error: Error) => error);
    expect(bug).not.toBeInstanceOf(StackError);
    expect(bug).toMatchObject({ message: 'a bug', stack: expect.stringMatching(/TypeError: a bug\n.*module\.mjs/) });
  });

  it('that ends early, or that is aborted, throws with the end of its log', async () => {
    await expect(load<() => Promise<void>>('end')()).rejects.toThrow(/end did not finish:\n.*out of memory/s);
    const stopping = new AbortController();
    const hanging = load<() => Promise<void>>('hang', stopping.signal)();
    setTimeout(() => stopping.abort(), 300);
    await expect(hanging).rejects.toThrow('hang did not finish');
  });
});

describe('a function in the process of a service', () => {
  const command = () => ['--max-semi-space-size=2', join(directory, 'service.mjs'), '--queues', 'a'];

  function start(log: string, of: Pick<Parameters<typeof startNodeProcess>[0], 'needs' | 'preparation'>) {
    const options = { command: command(), cwd: PROJECT, env: process.env, logFile: join(directory, log), ...of };
    return startNodeProcess(options, new AbortController().signal);
  }

  it('gets its arguments as they are, and the process goes on as the service, with its options and arguments', async () => {
    const { preparation, call } = prepareInService<(key: Buffer, names: Set<string>) => Promise<{ pid: number }>>(
      join(directory, 'module.mjs'),
      'describe',
    );
    const needs = call(Buffer.from('key'), new Set(['a', 'b']));
    const running = await start('prepared.log', { preparation, needs });
    const result = await needs;
    expect(result).toMatchObject({ key: 'key', names: ['a', 'b'] });
    const printed = JSON.parse(await readFile(join(directory, 'prepared.log'), 'utf8')) as { options: string[] };
    expect(printed).toMatchObject({ pid: result.pid, args: ['--queues', 'a'] });
    expect(printed.options).toContain('--max-semi-space-size=2');
    await running.stop(5000);
    expect(preparation.command(command())).toEqual(command());
  });

  it('is called when the code of the service is loaded, however early the call comes', async () => {
    const { preparation, call } = prepareInService<() => Promise<boolean>>(
      join(directory, 'module.mjs'),
      'isMainLoaded',
    );
    const needs = call();
    const running = await start('loaded.log', { preparation, needs });
    expect(await needs).toBe(true);
    await running.stop(5000);
  });

  it('runs again in the next process when one ends before it returned', async () => {
    const { preparation, call } = prepareInService<(file: string) => Promise<number>>(
      join(directory, 'module.mjs'),
      'endOnce',
    );
    const needs = call(join(directory, 'ended'));
    await expect(start('first.log', { preparation, needs })).rejects.toThrow('exit code 7');
    const running = await start('second.log', { preparation, needs });
    expect(JSON.parse(await readFile(join(directory, 'second.log'), 'utf8'))).toMatchObject({ pid: await needs });
    await running.stop(5000);
  });

  it('throws its error, and the process stays', async () => {
    const { preparation, call } = prepareInService<(why: string) => Promise<void>>(
      join(directory, 'module.mjs'),
      'refuse',
    );
    const starting = start('refused.log', { preparation });
    await expect(call('no space left')).rejects.toThrow(new StackError('no space left'));
    await (await starting).stop(5000);
  });
});
