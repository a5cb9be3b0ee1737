import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { requestChild, startChild } from '../harness/child.ts';
import { type Resources, stopProcess } from '../harness/resources.ts';
import type { LoadCommand, LoadReply, LoadResult } from './load.contract.ts';

/** A load process; its CPU is shown and never counted for the product. */
export interface LoadClient {
  readonly pid: number;
  /** @throws when the command failed or a response was not 200 */
  run(command: Exclude<LoadCommand, { kind: 'stop' | 'probe' | 'probe-exchange' }>): Promise<LoadResult>;
  /** Starts probing; the returned function stops it and returns the measurement. */
  probe(command: Extract<LoadCommand, { kind: 'probe' | 'probe-exchange' }>): () => Promise<LoadResult>;
  close(): Promise<void>;
}

/** Starts a load process. */
export async function startLoad(resources: Resources): Promise<LoadClient> {
  const child = await startChild(resources, fileURLToPath(new URL('load-process.ts', import.meta.url)));
  return {
    pid: child.pid!,
    run: (command) => send(child, command),
    probe(command) {
      const result = send(child, command);
      result.catch(() => {}); // Reported by the caller, who stops it.
      return () => {
        child.send({ kind: 'stop' } satisfies LoadCommand);
        return result;
      };
    },
    close: () => stopProcess(child),
  };
}

async function send(child: ChildProcess, command: LoadCommand): Promise<LoadResult> {
  const reply = await requestChild<LoadReply>(child, 'a load process', command);
  if ('error' in reply) throw new Error(`load (${command.kind}): ${reply.error}`);
  if (reply.result.failures > 0)
    throw new Error(`load (${command.kind}): ${reply.result.failures} responses were not 200`);
  return reply.result;
}
