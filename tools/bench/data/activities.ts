import type { Database, Sql } from '../../../src/persistence/database/sql.ts';
import {
  CREATE_OPERATORS,
  LANES,
  MESSAGES,
  OPENING,
  PARENTS,
  PAYLOADS,
  PLAN_CHILDREN,
  PLAN_GROUPS,
  ROWS,
} from './activity-sql.ts';

/** What to generate; equal options give equal rows in equal databases. */
export interface ActivitiesOptions {
  accountId: number;
  /** How many rows of `activity`, groups and operations together. */
  activities: number;
  seed?: number;
  /** The moment the youngest was created; the oldest is a year older. */
  now: Date;
  /** Called with the next step. */
  progress?(text: string): void;
}

const STEPS: ReadonlyArray<readonly [name: string, text: string]> = [
  ['operators', CREATE_OPERATORS],
  ['groups', PLAN_GROUPS],
  ['operations', PLAN_CHILDREN],
  ['index', 'create index on planned_child (id)'],
  ['counters', PARENTS],
  ['statistics', 'analyze planned_group, planned_child, planned_parent'],
  ['payloads', PAYLOADS],
  ['lanes', LANES],
  ['rows', ROWS],
  ['messages', MESSAGES],
  ['start of what is open', OPENING],
];

/**
 * Gives an account a year of activities on the computers it has: groups of one computer to ten thousand and operations
 * without a group, with their batches, payloads and messages. Nearly all have ended; what is open waits for its computers
 * and has the outbox command that starts its workflow, so that a running stack drives it. One transaction, every constraint in
 * force.
 * @throws when the account has no approved computers
 */
export async function generateActivities(db: Database, options: ActivitiesOptions): Promise<void> {
  const { accountId, activities, now, seed = 1, progress = () => {} } = options;
  await db.transaction(async (tx) => {
    const computers = await approvedComputers(tx, accountId);
    const first = await reserve(tx, 'activity', activities);
    const lane = await reserve(tx, 'lane', activities);
    const payload = await reserve(tx, 'operation_payload', activities);
    for (const [name, text] of STEPS) {
      progress(name);
      const values = [seed, now, accountId, activities, computers, first, lane, payload];
      if (text.includes('$')) await tx.query(text.replace('with ', `${GIVEN}, `), values);
      else await tx.query(text);
    }
  });
  progress('vacuum and analyze');
  for (const table of ['activity', 'lane', 'agent_message', 'operation_payload'])
    await db.query(`vacuum analyze ${table}`);
}

// Every statement has the same parameters, whichever of them it needs.
const GIVEN = `with given as materialized (select $1::bigint, $2::timestamptz, $3::int, $4::int, $5::int[], $6::int, $7::int, $8::bigint)`;

async function approvedComputers(tx: Sql, accountId: number): Promise<number[]> {
  const rows = await tx.query<{ id: number }>(
    `select id from computer where account_id = $1 and state = 'approved' and not archived order by id`,
    [accountId],
  );
  if (rows.length === 0) throw new Error(`account ${accountId} has no computers to act on`);
  return rows.map(({ id }) => id);
}

/** Takes ids in one piece, under a lock that keeps other writers away. @returns the first */
async function reserve(tx: Sql, table: string, count: number): Promise<number> {
  await tx.query(`lock table ${table} in share row exclusive mode`);
  const [row] = await tx.query<{ first: number }>(
    `select setval('${table}_id_seq', nextval('${table}_id_seq') + $1::int - 1) - $1::int + 1 as first`,
    [count],
  );
  return row!.first;
}
