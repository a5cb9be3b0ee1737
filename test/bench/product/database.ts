import assert from 'node:assert/strict';
import pg from 'pg';
import type { BenchContext } from '../bench.ts';

/** A connection of the benchmark's own, which ends with it. */
export async function openDatabase({ resources }: Pick<BenchContext, 'resources'>, url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  resources.defer(() => client.end());
  return client;
}

/**
 * Computers of a simulated fleet that take snaps: Windows hosts and their children run no snap daemon.
 *
 * @throws when there are not so many
 */
export async function snapTargets(database: pg.Client, count: number): Promise<number[]> {
  const { rows } = await database.query<{ id: number }>(
    'select id from computer where hostagent_uid is null order by id limit $1',
    [count],
  );
  assert.equal(rows.length, count, 'enough computers take snaps');
  return rows.map(({ id }) => id);
}
