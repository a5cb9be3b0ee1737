import type { PageRequest } from '../database/page.ts';
import type { Sql } from '../database/sql.ts';

const COLUMNS = [
  'name',
  'snap_id',
  'version',
  'revision',
  'tracking_channel',
  'held_until',
  'confinement',
  'summary',
  'publisher_username',
  'publisher_validation',
] as const;

/** One page of the snaps of a computer by name, and their number. `held_until`: `forever`, a time, or null. */
export async function listInstalledSnaps(db: Sql, computer: number, { limit, offset }: PageRequest) {
  const snaps = db.em.getKysely().selectFrom('computer_snap').where('computer_id', '=', computer);
  const [{ count }, rows] = await Promise.all([
    snaps.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow(),
    snaps.select(COLUMNS).orderBy('name').limit(limit).offset(offset).execute(),
  ]);
  return { count, rows };
}
