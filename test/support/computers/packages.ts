import { createHash } from 'node:crypto';
import type { Sql } from '../../../src/persistence/database/sql.ts';

/** Puts a version into the catalogue, as agents describing it do. @returns its id */
export async function insertPackage(
  db: Sql,
  name: string,
  version: string,
  summary = `${name} for tests`,
): Promise<number> {
  const hash = createHash('sha1').update(`${name} ${version}`).digest();
  const rows = await db.query<{ id: number }>(
    `insert into package (hash, type, name, version, summary, relations) values ($1, 65537, $2, $3, $4, '[]')
     on conflict (hash) do update set summary = excluded.summary returning id`,
    [hash, name, version, summary],
  );
  return rows[0]!.id;
}

/** Lets the computers of an account name ids, as if a gateway had told it all of these. */
export async function tellPackages(db: Sql, accountId: number, first: number, last = first): Promise<void> {
  await db.query(
    `insert into account_packages as a values ($1, int4multirange(int4range($2, $3, '[]')))
     on conflict (account_id) do update set known = a.known + excluded.known`,
    [accountId, first, last],
  );
}

export interface ReportedSets {
  installed?: readonly number[];
  available?: readonly number[];
  upgrades?: readonly number[];
  locked?: readonly number[];
  security?: readonly number[];
}

/** Replaces the package sets of a computer, as its agent's report does. */
export async function reportPackages(db: Sql, computer: number, sets: ReportedSets): Promise<void> {
  const of = (ids: readonly number[] = []) => `{${ids.map((id) => `[${id},${id}]`).join(',')}}`;
  await db.query(
    `insert into computer_packages (computer_id, installed, available, available_upgrades, locked, security, updated_at)
     values ($1, $2, $3, $4, $5, $6, now())
     on conflict (computer_id) do update set installed = excluded.installed, available = excluded.available,
       available_upgrades = excluded.available_upgrades, locked = excluded.locked, security = excluded.security`,
    [computer, of(sets.installed), of(sets.available), of(sets.upgrades), of(sets.locked), of(sets.security)],
  );
}

/** Three versions of a kernel meta package, oldest first, with their images; the middle one is installed. */
export async function reportKernels(db: Sql, computer: number) {
  const name = 'linux-image-generic';
  const [old, now, next] = [
    await insertPackage(db, name, '6.8.0.9.9'),
    await insertPackage(db, name, '6.8.0.45.45'),
    await insertPackage(db, name, '6.8.0.101.101'),
  ];
  const images = {
    now: await insertPackage(db, 'linux-image-6.8.0-45-generic', '6.8.0-45.45'),
    next: await insertPackage(db, 'linux-image-6.8.0-101-generic', '6.8.0-101.101'),
  };
  await reportPackages(db, computer, {
    installed: [now, images.now],
    available: [old, now, next, images.now, images.next],
    upgrades: [next],
  });
  return { old, now, next, images };
}
