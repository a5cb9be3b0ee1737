import { DomainError } from '../../domain/common/errors.ts';
import type { Permission } from '../../domain/identity/permissions.ts';
import { DEFAULT_TIME_LIMIT, DEFAULT_USERNAME } from '../../domain/scripts/script.ts';
import { recordEvent } from '../../persistence/events/events.repository.ts';
import { lockRights } from '../../persistence/identity/rights.repository.ts';
import { listAttachments, replaceAttachments } from '../../persistence/scripts/script-attachments.repository.ts';
import {
  insertScript,
  insertScriptVersion,
  lockScript,
  type ScriptChange,
  type ScriptWithCode,
  updateScript,
} from '../../persistence/scripts/scripts.repository.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { isUniqueViolation } from '../../persistence/database/errors.ts';
import { readLine } from '../common/fields.ts';
import { holdsIn } from '../identity/group-rights.ts';
import { requireAccessGroup } from '../identity/resolve-names.ts';
import type { Caller } from '../common/ports.ts';
import type { AttachmentUpload, Script, ScriptPatch, ScriptRequest, ScriptsDeps } from './model.ts';
import { type AttachmentChange, readAttachments, readScriptBody, readUsername } from './fields.ts';
import { readScript, requireRight, requireScript } from './reads.ts';

/** Required, besides ManageScript, to change code that profiles run. */
const CODE_OF_PROFILES: readonly Permission[] = ['ManageScriptProfile', 'ExecuteScript'];

const ROOT = 'global';

export async function createScript(deps: ScriptsDeps, caller: Caller, request: ScriptRequest): Promise<Script> {
  const title = readLine('body.title', request.title);
  const body = readScriptBody(request.code);
  const username = request.username === null ? DEFAULT_USERNAME : readUsername(request.username);
  const attachments = readAttachments(request.attachments, []);
  return withTitleConflict(deps, async (tx) => {
    await lockRights(tx, caller.accountId);
    const accessGroupId = await requireAccessGroup(tx, caller, request.accessGroup ?? ROOT, ['ManageScript']);
    const id = await insertScript(tx, {
      ...body,
      accountId: caller.accountId,
      accessGroupId,
      title,
      username,
      timeLimit: request.timeLimit ?? DEFAULT_TIME_LIMIT,
      creatorId: caller.personId,
      now: deps.clock.now(),
    });
    await replaceAttachments(tx, id, [], attachments.added);
    await recordEvent(tx, caller, eventOf({ id, title }, `Created the script ${title}`));
    return readAsEditor(tx, caller, id);
  });
}

export async function patchScript(deps: ScriptsDeps, caller: Caller, id: number, patch: ScriptPatch): Promise<Script> {
  return withTitleConflict(deps, async (tx) => {
    if (patch.accessGroup !== undefined) await lockRights(tx, caller.accountId);
    const script = requireActive(await lockManageable(tx, caller, id));
    const now = deps.clock.now();
    const { change, body, attachments } = await readPatch(tx, caller, script, patch);
    const runsOtherCode = body !== null || attachments !== null;
    if (runsOtherCode) requireProfileRights(caller, script);
    if (body) {
      const version = { version: change.version!, title: change.title ?? script.title, editorId: caller.personId, now };
      await insertScriptVersion(tx, id, { ...body, ...version });
    }
    if (attachments) await replaceAttachments(tx, id, attachments.kept, attachments.added);
    const parts = [...PARTS.flatMap(([name, words]) => (change[name] === undefined ? [] : [words]))];
    if (attachments) parts.push('the attachments');
    if (parts.length > 0) {
      await updateScript(tx, id, change, { editorId: caller.personId, now });
      const affected = runsOtherCode || change.accessGroupId !== undefined ? profilesText(script) : '';
      const message = `Changed ${parts.join(', ')} of the script ${script.title}${affected}`;
      await recordEvent(tx, caller, eventOf({ id, title: change.title ?? script.title }, message));
    }
    return readAsEditor(tx, caller, id);
  });
}

/** Locks a script that the caller may manage. @throws {DomainError} UnknownScript, Forbidden */
export async function lockManageable(tx: Sql, caller: Caller, id: number): Promise<ScriptWithCode> {
  requireRight(caller, await requireScript(tx, caller, id), 'ManageScript');
  await lockScript(tx, id, 'change');
  return requireScript(tx, caller, id);
}

/** Protects code that active profiles run. @throws {DomainError} Forbidden, with the profiles visible to the caller */
function requireProfileRights(caller: Caller, script: ScriptWithCode): void {
  if (script.script_profiles.length === 0) return;
  const missing = CODE_OF_PROFILES.filter((permission) => !holdsIn(caller, permission, script.access_group_id));
  if (missing.length === 0) return;
  const isShown = holdsIn(caller, 'ViewScriptProfile', script.access_group_id);
  const profiles = isShown ? `the active script profiles ${titlesOf(script)} run` : 'active script profiles run';
  throw new DomainError(
    'Forbidden',
    `The permission ${missing.join(' and ')} is needed in the access group of the script, whose code ${profiles}`,
  );
}

/** Part of an event that names a script's active profiles; empty without any. */
export function profilesText(script: ScriptWithCode): string {
  if (script.script_profiles.length === 0) return '';
  return `, which the script profiles ${titlesOf(script)} run`;
}

/** Maximum number of titles in one sentence. */
const MAX_TITLES = 20;

function titlesOf({ script_profiles: profiles }: ScriptWithCode): string {
  const named = profiles.slice(0, MAX_TITLES).map(({ title, id }) => `${title} (${id})`);
  const rest = profiles.length - named.length;
  return rest > 0 ? `${named.join(', ')} and ${rest} more` : named.join(', ');
}

/** @throws {DomainError} ScriptArchived, also for a redacted one */
export function requireActive<T extends { status: string }>(script: T): T {
  if (script.status !== 'active') throw new DomainError('ScriptArchived', `The script is ${script.status}`);
  return script;
}

export function eventOf({ id, title }: { id: number; title: string }, message: string) {
  return { entityType: 'Script' as const, entityId: id, entityName: title, message };
}

async function readPatch(tx: Sql, caller: Caller, script: ScriptWithCode, patch: ScriptPatch) {
  const change: ScriptChange = {};
  if (patch.title !== undefined) change.title = readLine('body.title', patch.title);
  if (patch.username !== undefined) change.username = readUsername(patch.username);
  if (patch.timeLimit !== undefined) change.timeLimit = patch.timeLimit;
  if (patch.accessGroup !== undefined && patch.accessGroup !== script.access_group) {
    // Its profiles run in the new group from now on.
    const needed = script.script_profiles.length > 0 ? WITH_PROFILES : (['ManageScript'] as const);
    change.accessGroupId = await requireAccessGroup(tx, caller, patch.accessGroup, needed);
  }
  const given = patch.code === undefined ? null : readScriptBody(patch.code);
  const isNew = given !== null && (given.code !== script.code || given.interpreter !== script.interpreter);
  if (isNew) change.version = script.version + 1;
  const attachments = patch.attachments ? await readFiles(tx, script, patch.attachments) : null;
  return { change, body: isNew ? given : null, attachments };
}

/** Null when the files do not change. */
async function readFiles(
  tx: Sql,
  { id }: ScriptWithCode,
  uploads: readonly AttachmentUpload[],
): Promise<AttachmentChange | null> {
  const present = await listAttachments(tx, id);
  const change = readAttachments(uploads, present);
  return change.added.length > 0 || change.kept.length < present.length ? change : null;
}

/** Callers may manage scripts without ViewScript; their response still contains the script. */
async function readAsEditor(tx: Sql, caller: Caller, id: number): Promise<Script> {
  const asEditor: Caller = {
    ...caller,
    groups: (permission) => caller.groups(permission === 'ViewScript' ? 'ManageScript' : permission),
  };
  return readScript(tx, asEditor, id);
}

async function withTitleConflict<T>({ db }: ScriptsDeps, work: (tx: Sql) => Promise<T>): Promise<T> {
  try {
    return await db.transaction(work);
  } catch (error) {
    if (!isUniqueViolation(error, 'script_title')) throw error;
    throw new DomainError('DuplicateScript', 'An active script with this title already exists');
  }
}

/** Required to move a script with profiles into a group. */
const WITH_PROFILES: readonly Permission[] = ['ManageScript', ...CODE_OF_PROFILES];

const PARTS: ReadonlyArray<readonly [keyof ScriptChange, string]> = [
  ['title', 'the title'],
  ['version', 'the code'],
  ['timeLimit', 'the time limit'],
  ['username', 'the user name'],
  ['accessGroupId', 'the access group'],
];
