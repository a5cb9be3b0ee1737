import type { Database, Sql } from '../../../src/persistence/database/sql.ts';
import { PATTERN } from '../../simulator/inventory/roles.ts';
import { copyComputers, copyParts } from './copy.ts';
import { fillMemberships } from './memberships.ts';
import { makeGroups, planComputers } from './plan.ts';
import { makePrototypes } from './prototypes.ts';

/** Equal options generate equal rows in equal databases. */
export interface ComputersOptions {
  accountId: number;
  /** Number of rows of `computer`, including Windows hosts, WSL instances, pending and archived ones. */
  computers: number;
  seed?: number;
  /** Times of contact are relative to this. */
  now: Date;
  /** How many computers the gateway's code creates: whole patterns of the simulated fleet. */
  prototypes?: number;
  progress?(text: string): void;
}

const PROTOTYPES = 10 * PATTERN.length;

/**
 * Fills an account with realistic computers: the gateway's own code creates a few hundred, the rest are copies with
 * different names, addresses, tags and times, made by one statement per table. One transaction, with every constraint
 * in force.
 * @returns the first and the last id of a range without gaps
 */
export async function generateComputers(
  db: Database,
  options: ComputersOptions,
): Promise<{ first: number; last: number }> {
  const { accountId, computers, now, seed = 1, prototypes: count = PROTOTYPES, progress = () => {} } = options;
  const ids = await db.transaction(async (tx) => {
    progress('prototypes');
    // Builds the inverted indexes at once at the end instead of row by row.
    await tx.query(`set local gin_pending_list_limit = '512MB'`);
    await makeGroups(tx, accountId);
    const account = { id: accountId, ...(await readAccount(tx, accountId)) };
    const prototypes = await makePrototypes(oneTransaction(tx), { account, seed, now, count });
    await planComputers(tx, { accountId, seed, now, computers }, prototypes);
    progress('computer');
    await copyComputers(tx, { seed, now });
    await copyParts(tx, { seed, now, onTable: progress });
    await tx.query('delete from agent_identity where computer_id = any($1::int[])', [prototypes.map(({ id }) => id)]);
    await tx.query('delete from computer where id = any($1::int[])', [prototypes.map(({ id }) => id)]);
    progress('memberships and alerts');
    await fillMemberships(tx, { accountId, seed, now });
    // Nobody follows these.
    await tx.query('delete from cloud_event where account_id = $1', [accountId]);
    const [range] = await tx.query<{ first: number; last: number }>(
      'select min(id) as first, max(id) as last from planned',
    );
    return range!;
  });
  progress('vacuum and analyze');
  await db.query('vacuum analyze');
  return ids;
}

async function readAccount(tx: Sql, id: number): Promise<{ name: string; registrationKey: string | null }> {
  const [row] = await tx.query<{ name: string; registration_key: string | null }>(
    'select name, registration_key from account where id = $1',
    [id],
  );
  if (!row) throw new Error(`there is no account ${id}`);
  return { name: row.name, registrationKey: row.registration_key };
}

/** Runs code that opens its own transactions within an open one. */
function oneTransaction(tx: Sql): Database {
  return {
    ...tx,
    transaction: (work) => work(tx),
    connect: () => Promise.reject(new Error('a transaction has no connection to give')),
  };
}
