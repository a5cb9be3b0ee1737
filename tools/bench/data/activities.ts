import type { Database, Sql } from '../../../src/persistence/database/sql.ts';
import {
  CREATE_OPERATORS,
  BATCHES,
  MESSAGES,
  OPENING,
  PARENTS,
  PAYLOADS,
  PLAN_CHILDREN,
  PLAN_GROUPS,
  ROWS,
} from './activity-sql.ts';

/** Equal options generate equal rows in equal databases. */
export interface ActivitiesOptions {
  accountId: number;
  /** Number of rows of `activity`, groups and operations together. */
  activities: number;
  seed?: number;
  /** Creation time of the newest row; the oldest is a year older. */
  now: Date;
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
  ['lanes', BATCHES],
  ['rows', ROWS],
  ['messages', MESSAGES],
  ['start of what is open', OPENING],
];

/**
 * Generates a year of activities on an account's computers: groups of one computer to ten thousand and operations
 * without a group, with their batches, payloads and messages. Nearly all have ended; open ones wait for their computers
 * and have an outbox command that starts their workflow, so that a running stack drives them. One transaction, with
 * every constraint in force.
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

// Every statement gets the same parameters, needed or not.
const GIVEN = `with given as materialized (select $1::bigint, $2::timestamptz, $3::int, $4::int, $5::int[], $6::int, $7::int, $8::bigint)`;

async function approvedComputers(tx: Sql, accountId: number): Promise<number[]> {
  const rows = await tx.query<{ id: number }>(
    `select id from computer where account_id = $1 and state = 'approved' and not archived order by id`,
    [accountId],
  );
  if (rows.length === 0) throw new Error(`account ${accountId} has no computers to act on`);
  return rows.map(({ id }) => id);
}

/** Reserves a contiguous range of ids, under a lock that blocks other writers. @returns the first */
async function reserve(tx: Sql, table: string, count: number): Promise<number> {
  await tx.query(`lock table ${table} in share row exclusive mode`);
  const [row] = await tx.query<{ first: number }>(
    `select setval('${table}_id_seq', nextval('${table}_id_seq') + $1::int - 1) - $1::int + 1 as first`,
    [count],
  );
  return row!.first;
}
