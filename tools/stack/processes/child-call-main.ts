import { once } from 'node:events';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { StackError } from '../stack-error.ts';
import type { Outcome } from './child-call.ts';

/** The child of {@link loadInChild}: `child-call-main.ts MODULE FUNCTION`. Ends when its parent does. */
const [, , module = '', name = ''] = process.argv;

process.on('disconnect', () => process.exit(1));
const loaded = (await import(pathToFileURL(resolve(module)).href)) as Record<string, (...args: unknown[]) => unknown>;
const [args] = (await once(process, 'message')) as [unknown[]];
process.send!(await outcomeOf(args), () => process.exit(0));

async function outcomeOf(args: unknown[]): Promise<Outcome> {
  try {
    return { result: await loaded[name]!(...args) };
  } catch (error) {
    const { message, stack = message } = error instanceof Error ? error : new Error(String(error));
    return { error: { message, stack, isStackError: error instanceof StackError } };
  }
}
