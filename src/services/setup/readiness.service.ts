import { setTimeout as sleep } from 'node:timers/promises';
import type { Persistence } from '../../persistence/orm/orm.ts';
import type { TemporalHealth } from '../common/ports.ts';

/** One part that keeps an acting call from going through, and why. */
export interface ReadinessFailure {
  part: 'database' | 'schema' | 'temporal';
  reason: string;
}

export interface Readiness {
  /** What stands in the way of a POST /snaps now; empty when nothing does. Never rejects, ends within seconds. */
  check(): Promise<ReadinessFailure[]>;
}

const LIMIT_MS = 3000;

/** @see docs/architecture.md#readiness */
export function createReadiness(deps: { persistence: Persistence; temporal: TemporalHealth }): Readiness {
  let schemaIsCurrent = false;

  async function checkDatabase(): Promise<ReadinessFailure[]> {
    try {
      await within(deps.persistence.db.query('select 1'));
    } catch {
      return [{ part: 'database', reason: 'PostgreSQL does not answer' }];
    }
    if (!schemaIsCurrent) {
      const pending = await within(deps.persistence.orm.migrator.getPending()).catch(() => null);
      if (pending === null) return [{ part: 'schema', reason: 'the schema could not be read' }];
      if (pending.length > 0) return [{ part: 'schema', reason: `${pending.length} migrations are pending` }];
      schemaIsCurrent = true;
    }
    return [];
  }

  async function checkTemporal(): Promise<ReadinessFailure[]> {
    try {
      await within(deps.temporal.check());
      return [];
    } catch (error) {
      return [{ part: 'temporal', reason: error instanceof Error ? error.message : 'Temporal does not answer' }];
    }
  }

  return { check: async () => (await Promise.all([checkDatabase(), checkTemporal()])).flat() };
}

async function within<T>(work: Promise<T>): Promise<T> {
  const limit = new AbortController();
  const late = sleep(LIMIT_MS, undefined, { signal: limit.signal, ref: false }).then(() => {
    throw new Error(`no answer within ${LIMIT_MS / 1000} s`);
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    limit.abort();
  }
}
