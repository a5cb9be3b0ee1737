import { once } from 'node:events';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { StackError } from '../stack-error.ts';
import type { Outcome } from './child-call.ts';

/**
 * `child-call-main.ts MODULE FUNCTION [MAIN [ARGUMENT...]]`: loads the function, waits for the message that calls it and
 * sends its outcome back. Then it ends, as it does with its parent before; with MAIN, it goes on as that module.
 */
const [node = '', , module = '', name = '', main, ...rest] = process.argv;

const end = (): never => process.exit(1);
process.on('disconnect', end);
const loaded = (await load(module)) as Record<string, (...args: unknown[]) => unknown>;
const [args] = (await once(process, 'message')) as [unknown[]];
const outcome = await outcomeOf(args);
if (main === undefined) {
  process.send!(outcome, () => process.exit(0));
} else {
  process.send!(outcome);
  process.off('disconnect', end);
  process.argv = [node, resolve(main), ...rest];
  await load(main);
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
