import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { requestChild, startChild } from '../harness/child.ts';
import { type Resources, stopProcess } from '../harness/resources.ts';
import type { LoadOrder, LoadReply, LoadResult } from './load.contract.ts';

/** A load process; its CPU is shown and never counted for the product. */
export interface LoadClient {
  readonly pid: number;
  /** @throws when the order failed or a response was not 200 */
  run(order: Exclude<LoadOrder, { kind: 'stop' | 'probe' | 'probe-exchange' }>): Promise<LoadResult>;
  /** Starts probing; the returned function stops it and returns the measurement. */
  probe(order: Extract<LoadOrder, { kind: 'probe' | 'probe-exchange' }>): () => Promise<LoadResult>;
  close(): Promise<void>;
}

/** Starts a load process. */
export async function startLoad(resources: Resources): Promise<LoadClient> {
  const child = await startChild(resources, fileURLToPath(new URL('load-process.ts', import.meta.url)));
  return {
    pid: child.pid!,
    run: (order) => ask(child, order),
    probe(order) {
      const result = ask(child, order);
      result.catch(() => {}); // Reported by the caller, who stops it.
      return () => {
        child.send({ kind: 'stop' } satisfies LoadOrder);
        return result;
      };
    },
    close: () => stopProcess(child),
  };
}

async function ask(child: ChildProcess, order: LoadOrder): Promise<LoadResult> {
  const reply = await requestChild<LoadReply>(child, 'a load process', order);
  if ('error' in reply) throw new Error(`load (${order.kind}): ${reply.error}`);
  if (reply.result.failures > 0) throw new Error(`load (${order.kind}): ${reply.result.failures} answers were not 200`);
  return reply.result;
}
