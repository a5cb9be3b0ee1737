import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type IdRange, PACKAGE_SETS, type PackageDelta, type PackageSet } from '../../domain/agents/deltas.ts';
import type { Sql } from '../database/sql.ts';
import { computerIds, type PerComputer } from './per-computer.ts';

const SET_NAMES = Object.keys(PACKAGE_SETS) as PackageSet[];

/** Ranges per turn of the event loop: some milliseconds of work. */
const TURN_RANGES = 20_000;

/**
 * Applies the deltas of different computers: the first step of each in one statement, then the second, and so on.
 * @returns computers with inconsistent sets: a removal named packages outside the set, or an addition named packages
 * that are unknown to the account, which are omitted
 * @remarks Idempotent.
 */
export async function savePackages(
  tx: Sql,
  reports: ReadonlyArray<PerComputer<PackageDelta>>,
  now: Date,
): Promise<Set<number>> {
  const inconsistent = new Set<number>();
  const restarted = reports.filter(({ value }) => value.restart);
  if (restarted.length > 0) await tx.query(RESTART, { computerIds: computerIds(restarted), now });
  for (let i = 0; ; i++) {
    const steps = reports.flatMap(({ computerId, value }) => {
      const step = value.steps[i];
      return step ? [{ computerId, step }] : [];
    });
    if (steps.length === 0) return inconsistent;
    const values: unknown[] = [steps.map(({ computerId }) => computerId), now];
    for (const set of SET_NAMES) {
      values.push(await multiranges(steps.map(({ step }) => step[set].add)));
      values.push(await multiranges(steps.map(({ step }) => step[set].remove)));
    }
    const rows = await tx.query<{ computer_id: number }>(APPLY, values, 'gateway-save-packages');
    for (const { computer_id } of rows) inconsistent.add(computer_id);
  }
}

async function multiranges(lists: ReadonlyArray<readonly IdRange[]>): Promise<string[]> {
  const texts: string[] = [];
  for (const ranges of lists) texts.push(await multirange(ranges));
  return texts;
}

/** Writes a PostgreSQL multirange and yields to the event loop in between. */
export async function multirange(ranges: readonly IdRange[]): Promise<string> {
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

const COLUMNS = SET_NAMES.map((set) => PACKAGE_SETS[set]);
const each = (text: (column: string, index: number) => string, between = ', '): string =>
  COLUMNS.map(text).join(between);

// A computer may name what it had before, as older gateways did not record ids. Removals from sets that are reported
// again are ignored: agents keep some sets when they start over, and empty them with their next report.
const APPLY = `
  with step as (
    select s.*, ${each((column) => `s.${column}`, ' + ')} as named
    from unnest($1::int[], ${each((_, i) => `$${3 + i * 2}::int4multirange[], $${4 + i * 2}::int4multirange[]`)})
      s(computer_id, ${each((column) => `${column}, not_${column}`)})
  ), before as (
    select p.computer_id, p.restart,
      ${each((column) => `case when p.restart then '{}' else p.${column} end as ${column}`)}
    from step s join computer_packages p using (computer_id) for update of p
  ), allowed as (
    select s.computer_id, case when k.known @> s.named then s.named
      else s.named * (coalesce(k.known, '{}') + coalesce(${each((column) => `b.${column}`, ' + ')}, '{}')) end as named
    from step s join computer c on c.id = s.computer_id
    left join account_packages k on k.account_id = c.account_id left join before b on b.computer_id = s.computer_id
  ), after as (
    insert into computer_packages (computer_id, updated_at, ${each((column) => column)})
    select s.computer_id, $2,
      ${each((column) => `coalesce(b.${column}, '{}') - s.not_${column} + s.${column} * a.named`)}
    from step s join allowed a using (computer_id) left join before b using (computer_id)
    on conflict (computer_id) do update set restart = false, updated_at = excluded.updated_at,
      ${each((column) => `${column} = excluded.${column}`)}
  )
  select s.computer_id from step s join allowed a using (computer_id) left join before b using (computer_id)
  where s.named <> a.named
    or b.restart is not true and not (${each((column) => `coalesce(b.${column}, '{}') @> s.not_${column}`, ' and ')})`;
