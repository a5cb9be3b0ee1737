import { DomainError } from '../../../domain/common/errors.ts';
import { nextDate } from '../../../domain/schedules/plan.ts';
import { OVER_LIMIT } from '../../../domain/compliance/profile.ts';
import { countComputersInScope } from '../../../persistence/query/profile-scope.sql.ts';
import {
  findUsgProfile,
  findUsgProfileIds,
  listUsgProfiles,
  readUsgProfileTag,
  type UsgProfileFilter,
  type UsgProfileRow,
} from '../../../persistence/compliance/usg-profiles.sql.ts';
import { readLastRuns } from '../../../persistence/compliance/usg-runs.sql.ts';
import type { Sql } from '../../../persistence/database/sql.ts';
import { fieldError } from '../../common/fields.ts';
import type { Tagged } from '../../common/conditional.ts';
import type { Caller } from '../../common/ports.ts';
import type { UsgProfileQuery, UsgProfilesDeps, UsgProfileView } from './model.ts';

/** One page, oldest first. @throws {DomainError} InvalidParameter for an impossible range of pass rates */
export async function listProfiles({ db, clock }: UsgProfilesDeps, caller: Caller, query: UsgProfileQuery) {
  const { passRateFrom, passRateTo } = query;
  if (passRateFrom !== null && passRateTo !== null && passRateFrom > passRateTo) {
    throw fieldError('query.pass_rate_from', 'must not be greater than pass_rate_to');
  }
  const filter: UsgProfileFilter = {
    accountId: caller.accountId,
    view: caller.groups('ViewUsgProfile'),
    search: query.search,
    archived: query.status === null ? null : query.status === 'archived',
    passRateFrom,
    passRateTo,
    ids: null,
  };
  if (query.status === 'over-limit') filter.ids = await overLimit(db, filter);
  const { count, rows } = await listUsgProfiles(db, filter, query);
  return { count, results: await toProfiles(db, caller.accountId, rows, clock.now()) };
}

/** @throws {DomainError} UnknownUsgProfile */
export async function readProfile({ db, clock }: UsgProfilesDeps, caller: Caller, id: number): Promise<UsgProfileView> {
  const [profile] = await toProfiles(db, caller.accountId, [await requireVisible(db, caller, id)], clock.now());
  return profile!;
}

/** As {@link readProfile}; null when its entity tag is a `known` one. @throws {DomainError} UnknownUsgProfile */
export async function readTaggedProfile(
  deps: UsgProfilesDeps,
  caller: Caller,
  id: number,
  known: readonly string[] | null,
): Promise<Tagged<UsgProfileView>> {
  const scope = { accountId: caller.accountId, view: caller.groups('ViewUsgProfile') };
  // Before the profile: a change in between gives the client a tag that is out of date already.
  const tag = await readUsgProfileTag(deps.db, scope, id, deps.clock.now());
  if (tag !== null && known?.includes(tag)) return { tag, value: null };
  return { tag: tag ?? '', value: await readProfile(deps, caller, id) };
}

/** A profile that the caller has just written, also without the right to view it. */
export async function readAsEditor(tx: Sql, { accountId }: Caller, id: number, now: Date): Promise<UsgProfileView> {
  const row = await findUsgProfile(tx, { accountId, view: 'all' }, id);
  const [profile] = await toProfiles(tx, accountId, [row!], now);
  return profile!;
}

/** A profile that is visible to the caller. @throws {DomainError} UnknownUsgProfile */
export async function requireVisible(sql: Sql, caller: Caller, id: number): Promise<UsgProfileRow> {
  const scope = { accountId: caller.accountId, view: caller.groups('ViewUsgProfile') };
  const found = await findUsgProfile(sql, scope, id);
  if (!found) throw new DomainError('UnknownUsgProfile', 'There is no such USG profile');
  return found;
}

async function toProfiles(sql: Sql, accountId: number, rows: readonly UsgProfileRow[], now: Date) {
  const ids = rows.map(({ id }) => id);
  const computers = await countComputersInScope(sql, 'usg', accountId, ids);
  const lastRuns = await readLastRuns(sql, ids);
  return rows.map(({ planned_dates, start_date, creator_id, ...row }) => ({
    ...row,
    associatedInstances: computers.get(row.id) ?? 0,
    nextRunTime: nextDate(planned_dates, now),
    lastRun: lastRuns.get(row.id) ?? null,
  }));
}

async function overLimit(sql: Sql, filter: UsgProfileFilter): Promise<number[]> {
  const ids = await findUsgProfileIds(sql, filter);
  const computers = await countComputersInScope(sql, 'usg', filter.accountId, ids);
  return ids.filter((id) => (computers.get(id) ?? 0) > OVER_LIMIT);
}
