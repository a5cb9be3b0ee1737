import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import {
  type IdRange,
  PACKAGE_SET_NAMES,
  PACKAGE_SETS,
  type PackageDelta,
  type PackageDescription,
  type PackageSet,
} from '../../domain/agents/deltas.ts';
import type { Sql } from '../database/sql.ts';
import { computerIds, type PerComputer } from './per-computer.ts';

type Column = (typeof PACKAGE_SETS)[PackageSet];

/** Ranges per turn of the event loop: some milliseconds of work. */
const TURN_RANGES = 20_000;

/** Change by change. Idempotent. Returns computers that removed what was not in their set or added unknown packages. */
export async function savePackages(tx: Sql, reports: ReadonlyArray<PerComputer<PackageDelta>>, now: Date) {
  const inconsistent = new Set<number>();
  const restarted = reports.filter(({ value }) => value.restart);
  if (restarted.length > 0) await tx.query(RESTART, { computerIds: computerIds(restarted), now });
  for (let i = 0; ; i++) {
    const changes = reports.flatMap(({ computerId, value }) => {
      const change = value.changes[i];
      return change ? [{ computerId, value: change }] : [];
    });
    if (changes.length === 0) return inconsistent;
    const sets = {} as Record<Column | `not_${Column}`, string[]>;
    for (const set of PACKAGE_SET_NAMES) {
      sets[PACKAGE_SETS[set]] = await multiranges(changes.map(({ value }) => value[set].add));
      sets[`not_${PACKAGE_SETS[set]}`] = await multiranges(changes.map(({ value }) => value[set].remove));
    }
    const parameters = { ...sets, computerIds: computerIds(changes), now };
    const rows = await tx.query<{ computer_id: number }>(APPLY, parameters, 'gateway-save-packages');
    for (const { computer_id } of rows) inconsistent.add(computer_id);
  }
}

/** Packages by the digests of their content; unknown ones are missing. */
export function findPackages(db: Sql, hashes: readonly Buffer[]): Promise<Array<{ id: number; hash: Buffer }>> {
  return db.query(
    'select id, hash from package where hash = any(:hashes::bytea[])',
    { hashes },
    'gateway-find-packages',
  );
}

/** Adds packages to the catalogue. Idempotent: rows are immutable. */
export async function addPackages(db: Sql, packages: readonly PackageDescription[]): Promise<void> {
  // A fixed order, so that agents with the same packages cannot deadlock.
  const rows = packages
    .toSorted((a, b) => Buffer.compare(a.hash, b.hash))
    .map(({ hash, installedSize, ...rest }) => ({
      ...rest,
      hash: hash.toString('hex'),
      installed_size: installedSize,
    }));
  await db.query(ADD, { rows: JSON.stringify(rows) });
}

/** Lets the computers of an account name these packages. Idempotent. */
export async function addAccountPackages(db: Sql, accountId: number, ids: readonly number[]): Promise<void> {
  const known = await multirange(ids.map((id) => [id, id]));
  await db.query(ADD_TO_ACCOUNT, { accountId, known }, 'gateway-add-account-packages');
}

async function multiranges(lists: ReadonlyArray<readonly IdRange[]>): Promise<string[]> {
  const texts: string[] = [];
  for (const ranges of lists) texts.push(await multirange(ranges));
  return texts;
}

async function multirange(ranges: readonly IdRange[]): Promise<string> {
  const parts: string[] = [];
  for (let from = 0; from < ranges.length; from += TURN_RANGES) {
    if (from > 0) await yieldToEventLoop();
    const part = ranges.slice(from, from + TURN_RANGES);
    parts.push(part.map(([first, last]) => `[${first},${last}]`).join(','));
  }
  return `{${parts.join(',')}}`;
}

const RESTART = `
  insert into computer_packages (computer_id, restart, updated_at) select id, true, :now from unnest(:computerIds::int[]) id
  on conflict (computer_id) do update set restart = true`;

const COLUMNS = PACKAGE_SET_NAMES.map((set) => PACKAGE_SETS[set]);
const each = (text: (column: string) => string, between = ', '): string => COLUMNS.map(text).join(between);

// A computer may name what it had: old gateways recorded no ids. Removals are ignored while sets are reported again.
const APPLY = `
  with change as (
    select s.*, ${each((column) => `s.${column}`, ' + ')} as named
    from unnest(:computerIds::int[], ${each((column) => `:${column}::int4multirange[], :not_${column}::int4multirange[]`)})
      s(computer_id, ${each((column) => `${column}, not_${column}`)})
  ), before as (
    select p.computer_id, p.restart,
      ${each((column) => `case when p.restart then '{}' else p.${column} end as ${column}`)}
    from change s join computer_packages p using (computer_id) for update of p
  ), allowed as (
    select s.computer_id, case when k.known @> s.named then s.named
      else s.named * (coalesce(k.known, '{}') + coalesce(${each((column) => `b.${column}`, ' + ')}, '{}')) end as named
    from change s join computer c on c.id = s.computer_id
    left join account_packages k on k.account_id = c.account_id left join before b on b.computer_id = s.computer_id
  ), after as (
    insert into computer_packages (computer_id, updated_at, ${each((column) => column)})
    select s.computer_id, :now,
      ${each((column) => `coalesce(b.${column}, '{}') - s.not_${column} + s.${column} * a.named`)}
    from change s join allowed a using (computer_id) left join before b using (computer_id)
    on conflict (computer_id) do update set restart = false, updated_at = excluded.updated_at,
      ${each((column) => `${column} = excluded.${column}`)}
  )
  select s.computer_id from change s join allowed a using (computer_id) left join before b using (computer_id)
  where s.named <> a.named
    or b.restart is not true and not (${each((column) => `coalesce(b.${column}, '{}') @> s.not_${column}`, ' and ')})`;

const ADD = `
  insert into package (hash, type, name, version, section, summary, description, size, installed_size, relations)
  select decode(p.hash, 'hex'), p.type, p.name, p.version, p.section, p.summary, p.description, p.size, p.installed_size,
    p.relations
  from jsonb_to_recordset(:rows::jsonb) p(hash text, type int, name text, version text, section text, summary text,
    description text, size bigint, installed_size bigint, relations jsonb)
  order by p.hash
  on conflict (hash) do nothing`;

// Checks before inserting: a conflict that changes nothing would still lock the row.
const ADD_TO_ACCOUNT = `
  insert into account_packages as a (account_id, known)
  select :accountId::int, :known::int4multirange
  where not exists (select from account_packages k where k.account_id = :accountId::int and k.known @> :known::int4multirange)
  on conflict (account_id) do update set known = a.known + excluded.known where not a.known @> excluded.known`;
