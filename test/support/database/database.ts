import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { expect } from 'vitest';
import type { Sql } from '../../../src/persistence/database/sql.ts';
import { openPersistence, type Persistence } from '../../../src/persistence/orm/orm.ts';
import { runService } from '../stack/run-service.ts';
import type { PostgresService } from './postgres-service.ts';

export interface TestDatabase {
  url: string;
  persistence: Persistence;
  /** Closes the persistence and removes the database, whoever is still connected. */
  drop(): Promise<void>;
}

/**
 * A migrated, empty database of its own, cloned from the run's template. Call it once per test file, `drop` at its end.
 *
 * @param options - `migrated: false` leaves the schema out
 */
export async function createTestDatabase(
  options: { poolSize?: number; migrated?: boolean } = {},
): Promise<TestDatabase> {
  const { adminUrl, template } = await runService<PostgresService>('postgres');
  const name = `test_${randomBytes(6).toString('hex')}`;
  const source = options.migrated === false ? 'template0' : template;
  await administer(adminUrl, `create database ${name} template ${source} strategy file_copy`);
  const url = adminUrl.replace(/\/postgres$/, `/${name}`);
  const persistence = await openPersistence({ url, poolSize: options.poolSize ?? 10, applicationName: name });
  return {
    url,
    persistence,
    async drop() {
      await persistence.close();
      await administer(adminUrl, `drop database if exists ${name} with (force)`);
    },
  };
}

const BLOCKED_LIMIT_MS = 20_000;

/**
 * Waits until a statement on this database waits for a lock; those of other databases of the server do not count.
 *
 * @param db - not a transaction, which would see the same result forever
 */
export async function untilBlocked(db: Sql): Promise<void> {
  const blocked = () =>
    db.query(`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' limit 1`);
  await expect.poll(blocked, { timeout: BLOCKED_LIMIT_MS }).toHaveLength(1);
}

async function administer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
