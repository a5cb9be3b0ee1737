import { fileURLToPath } from 'node:url';
import { requestChild, startChild } from '../harness/child.ts';
import type { Resources } from '../harness/resources.ts';
import type { NoOpCommand, NoOpReply } from './no-op.contract.ts';

/** A worker and client of no-op workflows in a process of its own. */
export interface NoOps {
  readonly pid: number;
  /** @throws when a workflow did not return the expected value */
  run(command: NoOpCommand): Promise<{ count: number; seconds: number }>;
}

/**
 * Starts worker and client on their own task queue.
 * @param environment - of a process of the product: server address, namespace and keys
 */
export async function startNoOps(resources: Resources, environment: Record<string, string>): Promise<NoOps> {
  const file = fileURLToPath(new URL('no-op-process.ts', import.meta.url));
  const child = await startChild(resources, file, [], environment);
  return {
    pid: child.pid!,
    async run(command) {
      const reply = await requestChild<NoOpReply>(child, 'the no-op process', command);
      if ('error' in reply) throw new Error(`no-op workflows: ${reply.error}`);
      return reply;
    },
  };
}
