import type { Client, Connection } from '@temporalio/client';
import type { TemporalHealth } from '../../src/services/common/ports.ts';
import { TASK_QUEUES } from '../../workflows/contracts/task-queues.ts';
import { openConnection, type ServerSettings, type TemporalSettings } from './connection.ts';
import { readPollers } from './pollers.ts';

const CALL_LIMIT_MS = 2_000;
const CACHE_MS = 1_500;
const FAILURE_CACHE_MS = 20;

/** A check whether an activity accepted now would run now. Takes up to 2 s; a good result is cached for 1.5 s. */
export function createTemporalHealth(
  config: ServerSettings & Pick<TemporalSettings, 'temporalNamespace'>,
): TemporalHealth & { close(): Promise<void> } {
  const connection = openConnection(config);
  let last: { until: number; outcome: Promise<void> } | null = null;
  return {
    check() {
      if (!last || Date.now() > last.until) {
        const check = { until: Date.now() + CACHE_MS, outcome: checkPollers(connection, config.temporalNamespace) };
        check.outcome.catch(() => {
          check.until = Date.now() + FAILURE_CACHE_MS;
        });
        last = check;
      }
      return last.outcome;
    },
    close: () => connection.close(),
  };
}

/** Why the server does not hand out work now, within 2 s; empty when it does. A worker's polls are retried silently. */
export async function findOutage({ connection }: Client, namespace: string): Promise<string[]> {
  try {
    await connection.withDeadline(Date.now() + CALL_LIMIT_MS, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
    return [];
  } catch (error) {
    return [toUnavailable(error).message];
  }
}

function toUnavailable(error: unknown): Error {
  return new Error(`Temporal does not respond: ${error instanceof Error ? error.message : String(error)}`);
}

async function checkPollers(connection: Connection, namespace: string): Promise<void> {
  const { current, builds } = await connection
    .withDeadline(Date.now() + CALL_LIMIT_MS, () => readPollers(connection, namespace, TASK_QUEUES.activity))
    .catch((error: unknown) => {
      throw toUnavailable(error);
    });
  if (builds.size === 0) throw new Error(`no worker polls the task queue ${TASK_QUEUES.activity}`);
  // Only the current build gets work; without one, only unversioned workers do.
  if (!builds.has(current)) {
    throw new Error(`no worker of the current build polls the task queue ${TASK_QUEUES.activity}`);
  }
}
