import { DomainError, type ErrorDetail } from '../../domain/common/errors.ts';
import type { ActivityScope } from '../../persistence/query/activity-visibility.ts';
import { findActivities } from '../../persistence/activities/activities.sql.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import type { Caller } from '../common/ports.ts';

/** Which activities a caller may see and manage. */
export function scopeOf(caller: Caller): ActivityScope {
  return {
    accountId: caller.accountId,
    view: caller.groups('ViewComputer'),
    manage: caller.groups('ManageComputer'),
    execute: caller.groups('ExecuteScript'),
    usgProfiles: caller.groups('ViewUsgProfile'),
    scriptProfiles: caller.groups('ViewScriptProfile'),
  };
}

/** In the order of `ids` (distinct). @throws {DomainError} UnknownActivity; Forbidden unless all may be managed */
export async function requireActivities(tx: Sql, caller: Caller, ids: readonly number[], verb: string, now: Date) {
  const rows = await findActivities(tx, scopeOf(caller), ids, now);
  const found = new Map(rows.map((row) => [row.id, row]));
  const missing = ids.filter((id) => !found.has(id));
  if (missing.length > 0) throw unknownActivities(missing);
  const forbidden = rows.filter((row) => !row.manageable).map((row) => row.id);
  if (forbidden.length > 0) {
    throw activityError('Forbidden', `You may not ${verb}`, sameReason(forbidden, `you may not ${verb} this`));
  }
  return ids.map((id) => found.get(id)!);
}

/** @throws {DomainError} ActivityNotEligible with one entry per id, if there are any */
export function requireEligible(verb: string, reasons: ReadonlyMap<number, string>): void {
  if (reasons.size > 0) throw activityError('ActivityNotEligible', `Cannot ${verb}`, reasons);
}

/** Creates the error, with one entry per id, without throwing it. */
export function unknownActivities(ids: readonly number[]): DomainError {
  return activityError('UnknownActivity', 'There is no', sameReason(ids, 'there is no such activity'));
}

export function sameReason(ids: readonly number[], reason: string): Map<number, string> {
  return new Map(ids.map((id) => [id, reason]));
}

function activityError(
  code: 'UnknownActivity' | 'Forbidden' | 'ActivityNotEligible',
  text: string,
  reasons: ReadonlyMap<number, string>,
): DomainError {
  const details: ErrorDetail[] = [...reasons].sort(([a], [b]) => a - b).map(([id, message]) => ({ id, message }));
  return new DomainError(code, `${text} activity ${details[0]!.id}`, { details });
}
