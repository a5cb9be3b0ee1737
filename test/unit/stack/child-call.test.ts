import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadInChild } from '../../../tools/stack/processes/child-call.ts';
import { isAlive, waitUntil } from '../../../tools/stack/processes/processes.ts';
import { StackError } from '../../../tools/stack/stack-error.ts';
import { PROJECT } from '../../../tools/stack/topology/roles.ts';

const STACK_ERROR = JSON.stringify(join(PROJECT, 'tools/stack/stack-error.ts'));
const MODULE = `
import { StackError } from ${STACK_ERROR};
export const describe = async (key, names) => ({ pid: process.pid, key: key.toString('utf8'), names: [...names] });
export const refuse = async (why) => { throw new StackError(why); };
export const fail = async () => { throw new TypeError('a bug'); };
export const end = async () => { console.log('out of memory'); process.exit(7); };
export const hang = async () => { setInterval(() => undefined, 1000); await new Promise(() => undefined); };
`;

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'flotilla-child-'));
  await writeFile(join(directory, 'module.mjs'), MODULE);
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
