import type { PageRequest } from '../../persistence/database/page.ts';
import type { ScriptVersionRow } from '../../persistence/scripts/scripts.repository.ts';
import type { BaseActivity } from '../activities/activity-views.ts';
import type { Caller } from '../common/ports.ts';
import { createScript, patchScript } from './changes.ts';
import type { Script, ScriptCommand, ScriptPatch, ScriptQuery, ScriptRequest, ScriptsDeps } from './model.ts';
import { archiveScript, redactScript } from './archive.ts';
import { readFile, readScript, readScripts, readVersion, readVersions } from './reads.ts';
import { executeScript } from './runs.ts';

/** Scripts that are not visible to the caller are reported as UnknownScript. @see docs/api-conventions.md#scripts */
export interface ScriptsService {
  /** One page without code, newest first. */
  list(caller: Caller, query: ScriptQuery): Promise<{ count: number; results: Script[] }>;
  /** @throws {DomainError} UnknownScript */
  get(caller: Caller, id: number): Promise<Script>;
  /**
   * @throws {DomainError} InvalidParameter, UnknownAccessGroup (400), DuplicateScript, Forbidden when the caller may
   * not manage scripts in that group
   */
  create(caller: Caller, request: ScriptRequest): Promise<Script>;
  /**
   * Changed code becomes a new version. Code and files that active profiles run also require ManageScriptProfile and
   * ExecuteScript in the script's group.
   * @throws {DomainError} UnknownScript, Forbidden, ScriptArchived, InvalidParameter, DuplicateScript
   */
  patch(caller: Caller, id: number, patch: ScriptPatch): Promise<Script>;
  /** One page of versions without code, newest first. @throws {DomainError} UnknownScript */
  versions(caller: Caller, id: number, page: PageRequest): Promise<{ count: number; rows: ScriptVersionRow[] }>;
  /** @throws {DomainError} UnknownScript, UnknownScriptVersion */
  version(caller: Caller, id: number, version: number): Promise<ScriptVersionRow>;
  /** The content of a file. @throws {DomainError} UnknownScript, UnknownScriptAttachment */
  attachment(caller: Caller, id: number, attachment: number): Promise<Uint8Array>;
  /** Archives a script and its profiles permanently. Idempotent. @throws {DomainError} UnknownScript, Forbidden */
  archive(caller: Caller, id: number): Promise<void>;
  /**
   * Archives a script, deletes all copies of its code and files, and cancels open operations. Idempotent.
   * @param traceparent - W3C trace context of the request
   * @throws {DomainError} UnknownScript, Forbidden
   */
  redact(caller: Caller, id: number, traceparent: string | null): Promise<void>;
  /**
   * Runs a script once on all computers of a query or on none.
   * @throws {DomainError} UnknownScript, ScriptArchived, InvalidParameter, InvalidQueryError, SavedSearchChanged,
   * Forbidden when the caller may not run scripts in the script's group or on one of the computers
   */
  execute(caller: Caller, id: number, command: ScriptCommand): Promise<BaseActivity>;
}

export function createScriptsService(deps: ScriptsDeps): ScriptsService {
  const { db } = deps;
  return {
    list: (caller, query) => readScripts(db, caller, query),
    get: (caller, id) => readScript(db, caller, id),
    create: (caller, request) => createScript(deps, caller, request),
    patch: (caller, id, patch) => patchScript(deps, caller, id, patch),
    versions: (caller, id, page) => readVersions(db, caller, id, page),
    version: (caller, id, version) => readVersion(db, caller, id, version),
    attachment: (caller, id, attachment) => readFile(db, caller, id, attachment),
    archive: (caller, id) => archiveScript(deps, caller, id),
    redact: (caller, id, traceparent) => redactScript(deps, caller, id, traceparent),
    execute: (caller, id, command) => executeScript(deps, caller, id, command),
  };
}
