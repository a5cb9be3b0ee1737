import assert from 'node:assert/strict';
import type pg from 'pg';
import type { BObject } from '../../../src/protocol/bpickle.ts';
import type { HashIds } from '../../simulator/hash-ids.ts';
import { toRanges } from '../../simulator/inventory/package-sets.ts';
import type { BenchAgent } from '../load/bench-agent.ts';
import { withConnections } from '../load/tally.ts';
import type { Stack } from '../product/stack.ts';

/** As many as the archives of a release have. */
export const PACKAGES = 70_000;
/** One in so many packages that the server knows is not in the list of the computers: ids are not all in one range. */
const OTHERS = 8;
/** Of the open client. */
const HASHES_PER_REQUEST = 500;
export const RELEASE = { type: 'distribution-info', 'code-name': 'noble', release: '24.04' } as const;

/** Adds packages to the catalogue. @returns those of the computers: ids by hashes in hex, in the order of the hashes */
export async function addKnownPackages(database: pg.Client): Promise<HashIds> {
  const { rows } = await database.query<{ id: number; hash: string }>(
    `insert into package (hash, type, name, version, relations)
     select substring(sha256(('package-' || n)::bytea) for 20), 65537, 'package-' || n, '1.0', '[]'
     from generate_series(1, $1::int) n returning id, encode(hash, 'hex') as hash`,
    [(PACKAGES * OTHERS) / (OTHERS - 1)],
  );
  const known = rows.filter(({ id }) => id % OTHERS !== 0).sort((a, b) => (a.hash < b.hash ? -1 : 1));
  assert.equal(known.length, PACKAGES);
  return new Map(known.map(({ hash, id }) => [hash, id]));
}

/**
 * Reports packages as the open client does: what it has ids of at once, and one request for ids of others at a time.
 * @param hashes - in hex, sorted
 * @param ids - of the file; empty without
 * @returns the number of exchanges
 */
export async function reportPackages(
  { agentPorts }: Stack,
  agent: BenchAgent,
  hashes: readonly string[],
  ids: HashIds,
): Promise<number> {
  let learned = hashes.flatMap((hash) => ids.get(hash) ?? []);
  const unknown = hashes.filter((hash) => !ids.has(hash));
  let exchanges = 0;
  await withConnections(agentPorts, 1, async (connection) => {
    for (; learned.length + unknown.length > 0; exchanges++) {
      const wanted = unknown.splice(0, HASHES_PER_REQUEST);
      const messages: BObject[] = [];
      if (learned.length > 0) messages.push({ type: 'packages', available: toRanges(learned) });
      if (wanted.length > 0) messages.push(requestOf(wanted, exchanges + 1));
      learned = (await agent.exchange(connection, messages)).flatMap(idsIn);
      assert.equal(learned.length, wanted.length, 'an id for every requested hash');
    }
  });
  return exchanges;
}

function requestOf(hashes: readonly string[], requestId: number): BObject {
  const bytes = hashes.map((hash) => Buffer.from(hash, 'hex'));
  return { type: 'unknown-package-hashes', 'request-id': requestId, hashes: bytes };
}

function idsIn({ type, ids }: BObject): number[] {
  assert.equal(type, 'package-ids');
  return (ids as Array<number | null>).filter((id) => id !== null);
}

/** @throws unless the stored lists of the computers are exactly these packages */
export async function assertStored(
  database: pg.Client,
  computers: readonly number[],
  ids: readonly number[],
): Promise<void> {
  const { rows } = await database.query<{ computers: number }>(
    `select count(*)::int as computers from computer_packages where computer_id = any($1)
     and available = (select range_agg(int4range(id, id, '[]')) from unnest($2::int[]) id)`,
    [computers, ids],
  );
  assert.equal(rows[0]!.computers, computers.length, 'the stored lists are those that were sent');
}
