import { describe, expect, it } from 'vitest';
import { temporalStore } from '../../../tools/stack/topology/topology-temporal.ts';

const storeOf = (database: string) => {
  const { database: workflows, visibilityDatabase: visibility } = temporalStore(
    `postgres://u:p@db.example/${database}`,
  );
  return [workflows, visibility];
};

/** What a name may be beside `_temporal_visibility` in the 63 bytes of PostgreSQL. */
const LONGEST = 43;

describe('temporalStore', () => {
  it('is on the server of our database, with its role', () => {
    expect(temporalStore('postgres://fl%40t:p%2Fw@[::1]:6543/flotilla')).toEqual({
      host: '::1',
      port: 6543,
      user: 'fl@t',
      password: 'p/w',
      database: 'temporal',
      visibilityDatabase: 'temporal_visibility',
    });
  });

  it('is another one for every database', () => {
    expect(storeOf('flotilla')).toEqual(['temporal', 'temporal_visibility']);
    expect(storeOf('fleet-2')).toEqual(['fleet-2_temporal', 'fleet-2_temporal_visibility']);
    const names = ['flotilla', 'Flotilla', 'temporal', 'fleet', 'fleet_temporal', 'fleet_temporal_visibility'];
    expect(new Set(names.flatMap(storeOf)).size).toBe(2 * names.length);
  });

  it('takes no name that PostgreSQL would cut off', () => {
    const [, visibility] = storeOf('n'.repeat(LONGEST));
    expect(Buffer.byteLength(visibility!)).toBe(63);
    expect(() => storeOf('n'.repeat(LONGEST + 1))).toThrow(`1 to ${LONGEST} characters`);
  });

  it.each(['', 'a%3Fb', 'a%2Fb', 'a%20b', 'a/b', 'fl%C3%B6te', 'a%zz'])(
    'takes no name %j, which would lead the Temporal server elsewhere or nowhere',
    (name) => {
      expect(() => storeOf(name)).toThrow(/FLOTILLA_DATABASE_URL/);
    },
  );

  it('rejects TLS', () => {
    expect(() => storeOf('flotilla?sslmode=require')).toThrow(/TLS/);
    expect(storeOf('flotilla?sslmode=disable')).toEqual(['temporal', 'temporal_visibility']);
  });
});
