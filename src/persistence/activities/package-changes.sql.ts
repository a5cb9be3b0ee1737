import {
  describeEffect,
  effectOf,
  type PackageEffect,
  type PackageVersion,
  packagesOf,
  type RequestedChanges,
} from '../../domain/software/package-changes.ts';
import { PACKAGE_OPERATION_TYPES } from '../../domain/software/package-operations.ts';
import type { Sql } from '../database/sql.ts';

interface PackageOperation {
  id: number;
  requested: RequestedChanges;
  effect: PackageEffect;
}

/** Adds the package ids of new operations, in the order of the request. */
export async function namePackages(tx: Sql, group: number, packages: readonly number[]): Promise<void> {
  await tx.query(
    `update activity set package_ids = :packages where parent_id = :group and type = any(:packageOperationTypes::text[])`,
    { group, packages, packageOperationTypes: PACKAGE_OPERATION_TYPES },
  );
}

/** As {@link namePackages}, for groups with different operations: the ids in each operation's message. */
export async function nameSentPackages(tx: Sql, group: number): Promise<void> {
  await tx.query(NAME_SENT, { group });
}

/** Stores the changes of just succeeded operations. Idempotent. @see docs/api-conventions.md#fields-of-an-activity */
export async function recordPackageChanges(tx: Sql, operations: readonly number[]): Promise<void> {
  const done = await readPackageOperations(tx, operations);
  const named = done.flatMap(({ effect }) => packagesOf(effect));
  const packages = await readPackages(tx, named);
  const rows = done.map(({ id, requested, effect }) => ({
    id,
    package_ids: [...new Set([...packagesOf(effectOf(requested, NOTHING)), ...packagesOf(effect)])],
    changes: describeEffect(effect, requested, packages),
  }));
  await tx.query(RECORD, { rows: JSON.stringify(rows) });
}

/** Requests and outcomes of succeeded operations on packages, in no order; others are left out. */
export async function readPackageOperations(db: Sql, operations: readonly number[]): Promise<PackageOperation[]> {
  const rows = await db.query<{
    id: number;
    idle: boolean;
    requested: RequestedChanges;
    complemented: Pick<RequestedChanges, 'install' | 'remove'>;
  }>(READ, { operations, nothingDone: NOTHING_DONE });
  return rows.map(({ id, idle, requested, complemented }) => ({
    id,
    requested,
    effect: idle ? NO_EFFECT : effectOf(requested, complemented),
  }));
}

/** Packages of the catalogue by id; unknown ids are left out. */
export async function readPackages(db: Sql, ids: readonly number[]): Promise<Map<number, PackageVersion>> {
  const rows = await db.query<PackageVersion>(PACKAGES, { ids: [...new Set(ids)] });
  return new Map(rows.map((row) => [row.id, row]));
}

const NOTHING = { install: [], remove: [] };
const NO_EFFECT: PackageEffect = { installed: [], removed: [], held: [], released: [] };

/** Start of an agent's result text when there was nothing to do. @see docs/agent-protocol.md#package-changes */
const NOTHING_DONE = 'No changes required';

const ids = (field: string) => `coalesce(p.fields -> '${field}', '[]')`;

const READ = `
  select a.id, r.activity_id is null and starts_with(coalesce(a.result_text, ''), :nothingDone) as idle,
    jsonb_build_object('install', ${ids('install')}, 'remove', ${ids('remove')}, 'hold', ${ids('hold')},
      'release', ${ids('remove-hold')}) as requested,
    jsonb_build_object('install', coalesce(r.must_install, '{}'), 'remove', coalesce(r.must_remove, '{}')) as complemented
  from activity a join operation_payload p on p.id = a.payload_id
  left join package_change_result r on r.activity_id = a.id and r.computer_id = a.computer_id
  where a.id = any(:operations::int[]) and a.status = 'succeeded' and p.message_type = 'change-packages'`;

const PACKAGES = 'select id, name, version from package where id = any(:ids::int[])';

const RECORD = `
  update activity a set package_ids = r.package_ids, changes = r.changes
  from jsonb_to_recordset(:rows::jsonb) r(id int, package_ids int[], changes jsonb)
  where a.id = r.id`;

const NAME_SENT = `
  update activity a set package_ids = array(
    select i::int from jsonb_each(p.fields) f, jsonb_array_elements_text(f.value) i
    where f.key in ('install', 'remove', 'hold', 'remove-hold'))
  from operation_payload p
  where a.parent_id = :group and p.id = a.payload_id and p.message_type = 'change-packages'`;
