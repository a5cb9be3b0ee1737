import type { Database, Sql } from '../../../src/persistence/database/sql.ts';
import { PATTERN } from '../../simulator/inventory/roles.ts';
import { copyComputers, copyParts } from './copy.ts';
import { fillMemberships } from './memberships.ts';
import { makeGroups, planComputers } from './plan.ts';
import { makePrototypes } from './prototypes.ts';

/** What to generate; equal options give equal rows in equal databases. */
export interface ComputersOptions {
  accountId: number;
  /** How many rows of `computer`: Windows hosts, WSL instances, pending and archived ones among them. */
  computers: number;
  seed?: number;
  /** What times of contact count back from. */
  now: Date;
  /** How many computers go through the gateway's code: whole patterns of the simulated fleet. */
  prototypes?: number;
  /** Called with the next step. */
  progress?(text: string): void;
}

/** Ten times the pattern of the simulated fleet. */
const PROTOTYPES = 10 * PATTERN.length;

/**
 * Fills an account with believable computers: a few hundred go through the gateway's own code, the rest are copies of
 * them with names, addresses, tags and times of their own, made by one statement per table. All in one transaction and
 * with every constraint in force; nothing is left behind when it fails.
 * @returns ids of the first and the last, which follow each other without a gap
 */
export async function generateComputers(
  db: Database,
  options: ComputersOptions,
): Promise<{ first: number; last: number }> {
  const { accountId, computers, now, seed = 1, prototypes: count = PROTOTYPES, progress = () => {} } = options;
  const ids = await db.transaction(async (tx) => {
    progress('prototypes');
    // Words are sorted into the inverted indexes at once at the end instead of row by row.
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

/** Lets code that opens transactions of its own run in one that is open. */
function oneTransaction(tx: Sql): Database {
  return {
    query: (text, values, name) => tx.query(text, values, name),
    transaction: (work) => work(tx),
    connect: () => Promise.reject(new Error('a transaction has no connection to give')),
  };
}
