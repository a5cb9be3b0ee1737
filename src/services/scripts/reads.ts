import { DomainError } from '../../domain/common/errors.ts';
import type { Permission } from '../../domain/identity/permissions.ts';
import type { PageRequest } from '../../persistence/database/page.ts';
import { readAttachment } from '../../persistence/scripts/scripts.repository.ts';
import {
  findScript,
  findScriptVersion,
  listScripts,
  listScriptVersions,
  type ScriptRow,
  type ScriptWithCode,
} from '../../persistence/scripts/scripts.sql.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { holdsIn } from '../identity/group-rights.ts';
import type { Caller } from '../common/ports.ts';
import type { ScriptQuery, ScriptsDeps, ScriptView } from './model.ts';

/** One page without code, newest first. */
export async function readScripts({ db }: ScriptsDeps, caller: Caller, query: ScriptQuery) {
  const { count, rows } = await listScripts(db, { ...scopeOf(caller), ...query });
  return { count, results: rows.map((row) => toScript(caller, row)) };
}

/** @throws {DomainError} UnknownScript */
export async function readScript(db: Sql, caller: Caller, id: number): Promise<ScriptView> {
  return toScript(caller, await requireScript(db, caller, id));
}

/** A script that is visible to the caller. @throws {DomainError} UnknownScript */
export async function requireScript(db: Sql, caller: Caller, id: number): Promise<ScriptWithCode> {
  const found = await findScript(db, scopeOf(caller), id);
  if (!found) throw new DomainError('UnknownScript', 'There is no such script');
  return found;
}

/** @throws {DomainError} Forbidden without the permission in the script's access group */
export function requireRight(caller: Caller, script: Pick<ScriptRow, 'access_group_id'>, permission: Permission): void {
  if (holdsIn(caller, permission, script.access_group_id)) return;
  throw new DomainError('Forbidden', `The permission ${permission} is needed in the access group of the script`);
}

/** One page of versions without code, newest first. @throws {DomainError} UnknownScript */
export async function readVersions({ db }: ScriptsDeps, caller: Caller, id: number, page: PageRequest) {
  await requireScript(db, caller, id);
  return listScriptVersions(db, id, page);
}

/** @throws {DomainError} UnknownScript, UnknownScriptVersion */
export async function readVersion({ db }: ScriptsDeps, caller: Caller, id: number, version: number) {
  await requireScript(db, caller, id);
  const found = await findScriptVersion(db, id, version);
  if (!found) throw new DomainError('UnknownScriptVersion', 'There is no such script version');
  return found;
}

/** The content of a file. @throws {DomainError} UnknownScript, UnknownScriptAttachment */
export async function readFile({ db }: ScriptsDeps, caller: Caller, id: number, attachment: number) {
  await requireScript(db, caller, id);
  const found = await readAttachment(db, id, attachment);
  if (!found) throw new DomainError('UnknownScriptAttachment', 'There is no such script attachment');
  return found;
}

function scopeOf(caller: Caller) {
  return { accountId: caller.accountId, view: caller.groups('ViewScript') };
}

function toScript<T extends ScriptRow>(caller: Caller, row: T) {
  const { account_id: _, access_group_id: group, ...shown } = row;
  const active = row.status === 'active';
  return {
    ...shown,
    script_profiles: holdsIn(caller, 'ViewScriptProfile', group) ? row.script_profiles : [],
    redactable: row.status !== 'redacted' && holdsIn(caller, 'ManageScript', group),
    editable: active && holdsIn(caller, 'ManageScript', group),
    executable: active && holdsIn(caller, 'ExecuteScript', group),
  };
}
