import assert from 'node:assert/strict';
import pg from 'pg';
import type { BenchContext } from '../bench.ts';

/** A separate connection, closed with the benchmark. */
export async function openDatabase({ resources }: Pick<BenchContext, 'resources'>, url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  resources.defer(() => client.end());
  return client;
}

/** State of a group, from its row: polling the API for a large group every few milliseconds would be a load itself. */
export async function countsOf(
  database: pg.Client,
  group: number,
): Promise<{ open: number; succeeded: number; canceled: number }> {
  const { rows } = await database.query<{ open: number; succeeded: number; canceled: number }>({
    name: 'bench-counts',
    text: `select open_count as open, succeeded_count as succeeded, canceled_count as canceled
      from activity where id = $1`,
    values: [group],
  });
  return rows[0]!;
}

/**
 * Computers of a simulated fleet that take snaps: Windows hosts and their children run no snap daemon.
 * @throws when there are too few
 */
export async function snapTargets(database: pg.Client, count: number): Promise<number[]> {
  const { rows } = await database.query<{ id: number }>(
    'select id from computer where hostagent_uid is null order by id limit $1',
    [count],
  );
  assert.equal(rows.length, count, 'enough computers take snaps');
  return rows.map(({ id }) => id);
}
