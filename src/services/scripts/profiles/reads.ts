import { DomainError } from '../../../domain/common/errors.ts';
import { nextZonedDates } from '../../../domain/schedules/zoned-dates.ts';
import { countComputersInScope } from '../../../persistence/query/profile-scope.sql.ts';
import { findParents, readParentTag } from '../../../persistence/activities/activity-parents.sql.ts';
import { listParentsOfScriptProfile } from '../../../persistence/scripts/script-profile-runs.sql.ts';
import {
  findScriptProfile,
  listScriptProfiles,
  readLatestRuns,
  readScriptProfileTag,
  type ScriptProfileRow,
} from '../../../persistence/scripts/script-profiles.sql.ts';
import type { PageRequest } from '../../../persistence/database/page.ts';
import type { Sql } from '../../../persistence/database/sql.ts';
import { scopeOf } from '../../activities/activity-rights.ts';
import { toBaseActivity } from '../../activities/displayed-activities.ts';
import type { Tagged } from '../../common/conditional.ts';
import type { Caller } from '../../common/ports.ts';
import { zonedCalendars } from '../../schedules/cron-dates.ts';
import { requireScript } from '../reads.ts';
import type { ScriptProfileQuery, ScriptProfilesDeps, ScriptProfileView } from './model.ts';
import { triggerState } from './trigger-fields.ts';

/** One page, newest first. */
export async function listProfiles({ db, clock }: ScriptProfilesDeps, caller: Caller, query: ScriptProfileQuery) {
  const { count, rows } = await listScriptProfiles(db, { ...visibleTo(caller), ...query, scriptId: null });
  return { count, results: await toProfiles(db, caller, rows, clock.now()) };
}

/** One page of a script's profiles, including archived ones, newest first. @throws {DomainError} UnknownScript */
export async function listProfilesOfScript(
  { db, clock }: ScriptProfilesDeps,
  caller: Caller,
  scriptId: number,
  page: PageRequest,
) {
  await requireScript(db, caller, scriptId);
  const all = { archived: null, search: null, names: null };
  const { count, rows } = await listScriptProfiles(db, { ...visibleTo(caller), ...all, ...page, scriptId });
  return { count, results: await toProfiles(db, caller, rows, clock.now()) };
}

/** @throws {DomainError} UnknownScriptProfile */
export async function readProfile({ db, clock }: ScriptProfilesDeps, caller: Caller, id: number) {
  return toProfile(db, caller, await requireProfile(db, caller, id), clock.now());
}

/** As {@link readProfile}; null when its entity tag is a `known` one. @throws {DomainError} UnknownScriptProfile */
export async function readTaggedProfile(
  deps: ScriptProfilesDeps,
  caller: Caller,
  id: number,
  known: readonly string[] | null,
): Promise<Tagged<ScriptProfileView>> {
  const now = deps.clock.now();
  // Before the profile: a change in between gives the client a tag that is out of date already.
  const own = await readScriptProfileTag(deps.db, visibleTo(caller), id, now);
  const run = own?.activity_id ? await readParentTag(deps.db, scopeOf(caller), own.activity_id, now) : '';
  const tag = `${own?.tag ?? ''}${run}`;
  if (known?.includes(tag)) return { tag, value: null };
  return { tag, value: await readProfile(deps, caller, id) };
}

/** A profile that is visible to the caller. @throws {DomainError} UnknownScriptProfile */
export async function requireProfile(sql: Sql, caller: Caller, id: number): Promise<ScriptProfileRow> {
  const found = await findScriptProfile(sql, visibleTo(caller), id);
  if (!found) throw new DomainError('UnknownScriptProfile', 'There is no such script profile');
  return found;
}

/** One page of its runs, newest first. @throws {DomainError} UnknownScriptProfile */
export async function listActivities({ db, clock }: ScriptProfilesDeps, caller: Caller, id: number, page: PageRequest) {
  await requireProfile(db, caller, id);
  const now = clock.now();
  const { count, rows } = await listParentsOfScriptProfile(db, scopeOf(caller), id, page, now);
  return { count, results: rows.map((row) => toBaseActivity(row, now)) };
}

/** Up to `limit` dates after now, from the next run on. @throws {DomainError} UnknownScriptProfile */
export async function listDates({ db, clock }: ScriptProfilesDeps, caller: Caller, id: number, limit: number) {
  return nextDates(await requireProfile(db, caller, id), clock.now(), limit);
}

/** Up to `limit` dates after `now` of a profile, which need not be stored. */
export function nextDates(
  profile: Pick<ScriptProfileRow, 'trigger' | 'timezone' | 'last_run' | 'due_at' | 'archived'>,
  now: Date,
  limit: number,
) {
  const { nextRun } = triggerState(profile, now);
  const { trigger, timezone } = profile;
  if (nextRun === null) return { timezone, dates: [] };
  const further = trigger.type === 'recurring' ? nextZonedDates(zonedCalendars(trigger), nextRun, limit - 1) : [];
  return { timezone, dates: [nextRun, ...further] };
}

/** @returns the query for the computers of a profile. @throws {DomainError} UnknownScriptProfile */
export async function readComputersQuery({ db }: ScriptProfilesDeps, caller: Caller, id: number): Promise<string> {
  await requireProfile(db, caller, id);
  return `profile:script:${id}`;
}

/** Adds the state of the trigger, the computers in scope, and the latest activity if visible to the caller. */
export async function toProfile(sql: Sql, caller: Caller, row: ScriptProfileRow, now: Date) {
  const [profile] = await toProfiles(sql, caller, [row], now);
  return profile!;
}

async function toProfiles(sql: Sql, caller: Caller, rows: readonly ScriptProfileRow[], now: Date) {
  const standing = rows.filter(({ archived, trigger }) => !archived && trigger.type !== 'event');
  const ids = standing.map(({ id }) => id);
  const counts = await countComputersInScope(sql, 'script', caller.accountId, ids);
  const activities = await readLastActivities(sql, caller, rows, now);
  return rows.map(({ account_id, access_group_id, planned_until, ...row }) => ({
    ...row,
    state: triggerState(row, now),
    computers: counts.get(row.id) ?? 0,
    lastActivity: activities.get(row.id) ?? null,
  }));
}

async function readLastActivities(sql: Sql, caller: Caller, rows: readonly ScriptProfileRow[], now: Date) {
  const ids = rows.map(({ id }) => id);
  const latest = await readLatestRuns(sql, ids);
  if (latest.size === 0) return new Map();
  const parents = await findParents(sql, scopeOf(caller), [...latest.values()], now);
  const byId = new Map(parents.map((row) => [row.id, toBaseActivity(row, now)]));
  return new Map([...latest].flatMap(([id, run]) => (byId.has(run) ? [[id, byId.get(run)!] as const] : [])));
}

function visibleTo(caller: Caller) {
  return { accountId: caller.accountId, view: caller.groups('ViewScriptProfile') };
}
