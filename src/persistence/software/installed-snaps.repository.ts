import type { PageRequest } from '../database/page.ts';
import type { Sql } from '../database/sql.ts';

/** A snap on a computer, as last reported. */
export interface InstalledSnapRow {
  name: string;
  snap_id: string;
  version: string;
  revision: string;
  tracking_channel: string | null;
  /** `forever` or a time; null when it is not held. */
  held_until: string | null;
  confinement: string | null;
  summary: string | null;
  publisher_username: string | null;
  publisher_validation: string | null;
}

/** One page of the snaps of a computer by name, and the total number. */
export async function listInstalledSnaps(
  db: Sql,
  computer: number,
  page: PageRequest,
): Promise<{ count: number; rows: InstalledSnapRow[] }> {
  const [counts, rows] = await Promise.all([
    db.query<{ count: number }>('select count(*)::int as count from computer_snap where computer_id = :computer', {
      computer,
    }),
    db.query<InstalledSnapRow & Record<string, unknown>>(LIST, { computer, limit: page.limit, offset: page.offset }),
  ]);
  return { count: counts[0]!.count, rows };
}

const LIST = `
  select name, snap_id, version, revision, tracking_channel, held_until, confinement, summary, publisher_username,
    publisher_validation
  from computer_snap where computer_id = :computer order by name limit :limit offset :offset`;
