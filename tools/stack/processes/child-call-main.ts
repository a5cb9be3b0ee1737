import { once } from 'node:events';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { StackError } from '../stack-error.ts';
import type { Outcome } from './child-call.ts';

/**
 * `child-call-main.ts MODULE FUNCTION [MAIN [ARGUMENT...]]`: loads the function, waits for the message that calls it and
 * sends its outcome back. Then it ends, as it does with its parent before. With MAIN, it has loaded that module as well,
 * which waits for a message of its own, and goes on as it.
 */
const [node = '', , module = '', name = '', main, ...rest] = process.argv;

const end = (): never => process.exit(1);
process.on('disconnect', end);
// Before MAIN listens: messages wait for the first listener, and only that one gets them.
const called = once(process, 'message') as Promise<[unknown[]]>;
const loaded = (await load(module)) as Record<string, (...args: unknown[]) => unknown>;
if (main !== undefined) {
  process.argv = [node, resolve(main), ...rest];
  await load(main);
}
const [args] = await called;
const outcome = await outcomeOf(args);
if (main === undefined) {
  process.send!(outcome, () => process.exit(0));
} else {
  process.send!(outcome);
  process.off('disconnect', end);
}

function load(path: string): Promise<unknown> {
  return import(pathToFileURL(resolve(path)).href);
}

async function outcomeOf(args: unknown[]): Promise<Outcome> {
  try {
    return { result: await loaded[name]!(...args) };
  } catch (error) {
    const { message, stack = message } = error instanceof Error ? error : new Error(String(error));
    return { error: { message, stack, isStackError: error instanceof StackError } };
  }
}
