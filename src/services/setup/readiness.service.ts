import { setTimeout as sleep } from 'node:timers/promises';
import { checkConnection } from '../../persistence/database/transactions.ts';
import type { Persistence } from '../../persistence/orm/orm.ts';
import type { TemporalHealth } from '../common/ports.ts';

interface ReadinessFailure {
  part: 'database' | 'schema' | 'temporal';
  reason: string;
}

export interface Readiness {
  /** Empty when the process is ready. Never rejects; ends within seconds. */
  check(): Promise<ReadinessFailure[]>;
}

const TIMEOUT_MS = 3000;

/** @see docs/architecture.md#readiness */
export function createReadiness(deps: { persistence: Persistence; temporal: TemporalHealth }): Readiness {
  let schemaIsCurrent = false;

  async function checkDatabase(): Promise<ReadinessFailure[]> {
    try {
      await withTimeout(checkConnection(deps.persistence.db));
    } catch {
      return [{ part: 'database', reason: 'PostgreSQL does not respond' }];
    }
    if (!schemaIsCurrent) {
      const pending = await withTimeout(deps.persistence.orm.migrator.getPending()).catch(() => null);
      if (pending === null) return [{ part: 'schema', reason: 'the schema could not be read' }];
      if (pending.length > 0) return [{ part: 'schema', reason: `${pending.length} migrations are pending` }];
      schemaIsCurrent = true;
    }
    return [];
  }

  async function checkTemporal(): Promise<ReadinessFailure[]> {
    try {
      await withTimeout(deps.temporal.check());
      return [];
    } catch (error) {
      return [{ part: 'temporal', reason: error instanceof Error ? error.message : 'Temporal does not respond' }];
    }
  }

  return { check: async () => (await Promise.all([checkDatabase(), checkTemporal()])).flat() };
}

function withTimeout<T>(work: Promise<T>): Promise<T> {
  const timeout = sleep(TIMEOUT_MS, undefined, { ref: false }).then(() => {
    throw new Error(`no answer within ${TIMEOUT_MS / 1000} s`);
  });
  return Promise.race([work, timeout]);
}
