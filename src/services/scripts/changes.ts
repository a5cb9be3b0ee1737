import { DomainError } from '../../domain/common/errors.ts';
import type { Permission } from '../../domain/identity/permissions.ts';
import { scheduleIdOf } from '../../domain/schedules/profile-schedule.ts';
import { DEFAULT_TIME_LIMIT, DEFAULT_USERNAME } from '../../domain/scripts/script.ts';
import {
  type Cancellation,
  cancelActivities,
  lockBatchesOf,
} from '../../persistence/activities/activity-cancel.sql.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { recordEvent } from '../../persistence/events/events.sql.ts';
import { lockRights } from '../../persistence/identity/rights.repository.ts';
import { enqueueScheduleSync } from '../../persistence/schedules/schedule-syncs.sql.ts';
import { archiveProfilesOfScript } from '../../persistence/scripts/script-profiles.sql.ts';
import { findOpenRuns, wipeCode } from '../../persistence/scripts/script-redaction.sql.ts';
import {
  deleteAttachments,
  insertScript,
  listAttachments,
  lockScript,
  replaceAttachments,
  type ScriptChange,
  updateScript,
} from '../../persistence/scripts/scripts.repository.ts';
import type { ScriptWithCode } from '../../persistence/scripts/scripts.sql.ts';
import { changedParts, ifGiven, readLine } from '../common/fields.ts';
import type { Caller } from '../common/ports.ts';
import { withTitleConflict } from '../common/title-conflict.ts';
import { holdsIn } from '../identity/group-rights.ts';
import { requireAccessGroup } from '../identity/resolve-names.ts';
import { type AttachmentChange, readAttachments, readScriptBody, readUsername } from './fields.ts';
import type { AttachmentUpload, ScriptPatch, ScriptRequest, ScriptsDeps, ScriptView } from './model.ts';
import { readScript, requireRight, requireScript } from './reads.ts';

const CODE_OF_PROFILES: readonly Permission[] = ['ManageScriptProfile', 'ExecuteScript'];

const ROOT = 'global';

/** @throws {DomainError} InvalidParameter, UnknownAccessGroup (400), DuplicateScript, Forbidden in that group */
export async function createScript(deps: ScriptsDeps, caller: Caller, request: ScriptRequest): Promise<ScriptView> {
  const title = readLine('body.title', request.title);
  const body = readScriptBody(request.code);
  const username = request.username === null ? DEFAULT_USERNAME : readUsername(request.username);
  const attachments = readAttachments(request.attachments, []);
  const timeLimit = request.timeLimit ?? DEFAULT_TIME_LIMIT;
  return withTitleConflict(deps.db, DUPLICATE, async (tx) => {
    await lockRights(tx, caller.accountId);
    const accessGroup = await requireAccessGroup(tx, caller, request.accessGroup ?? ROOT, ['ManageScript']);
    const script = { account: caller.accountId, accessGroup, title, username, timeLimit };
    const id = await insertScript(tx, script, body, { editorId: caller.personId, now: deps.clock.now() });
    await replaceAttachments(tx, id, [], attachments.added);
    await recordEvent(tx, caller, eventOf({ id, title }, `Created the script ${title}`));
    return readAsEditor(tx, caller, id);
  });
}

/** @throws {DomainError} UnknownScript, Forbidden, ScriptArchived, InvalidParameter, DuplicateScript */
export async function patchScript(deps: ScriptsDeps, caller: Caller, id: number, patch: ScriptPatch) {
  return withTitleConflict(deps.db, DUPLICATE, async (tx) => {
    if (patch.accessGroup !== undefined) await lockRights(tx, caller.accountId);
    const script = requireActive(await lockManageable(tx, caller, id));
    const change = await readPatch(tx, caller, script, patch);
    const attachments = patch.attachments && (await readFiles(tx, script, patch.attachments));
    const runsOtherCode = change.body !== undefined || attachments !== undefined;
    if (runsOtherCode) requireProfileRights(caller, script);
    if (attachments) await replaceAttachments(tx, id, attachments.kept, attachments.added);
    const parts = changedParts({ ...change, attachments }, PARTS);
    if (parts.length > 0) {
      await updateScript(tx, id, change, { editorId: caller.personId, now: deps.clock.now() });
      const affected = runsOtherCode || change.accessGroup !== undefined ? profilesText(script) : '';
      const message = `Changed ${parts.join(', ')} of the script ${script.title}${affected}`;
      await recordEvent(tx, caller, eventOf({ id, title: change.title ?? script.title }, message));
    }
    return readAsEditor(tx, caller, id);
  });
}

/** Archives a script and its profiles; open runs go on. Idempotent. @throws {DomainError} UnknownScript, Forbidden */
export async function archiveScript(deps: ScriptsDeps, caller: Caller, id: number): Promise<void> {
  await deps.db.transaction(async (tx) => {
    const script = await lockManageable(tx, caller, id);
    if (script.status !== 'active') return;
    const now = deps.clock.now();
    await updateScript(tx, id, { status: 'archived' }, { editorId: caller.personId, now });
    await archiveProfiles(tx, id, now);
    await recordEvent(tx, caller, eventOf(script, `Archived the script ${script.title}${profilesText(script)}`));
  });
}

/** Deletes all copies of code and files too. Idempotent. @throws {DomainError} UnknownScript, Forbidden */
export async function redactScript(deps: ScriptsDeps, caller: Caller, id: number, traceparent: string | null) {
  await deps.db.transaction(async (tx) => {
    requireRight(caller, await requireScript(tx, caller, id), 'ManageScript');
    // Batches are locked before all other rows; runs that start until the script is locked are found afterwards.
    await lockBatchesOf(tx, caller.accountId, await findOpenRuns(tx, id));
    const script = await lockManageable(tx, caller, id);
    if (script.status === 'redacted') return;
    const now = deps.clock.now();
    await updateScript(tx, id, { status: 'redacted' }, { editorId: caller.personId, now });
    await archiveProfiles(tx, id, now);
    await cancelRuns(tx, caller, id, { now, traceparent });
    await wipeCode(tx, id);
    await deleteAttachments(tx, id);
    await recordEvent(tx, caller, eventOf(script, `Redacted the script ${script.title}${profilesText(script)}`));
  });
}

async function archiveProfiles(tx: Sql, scriptId: number, now: Date): Promise<void> {
  for (const id of await archiveProfilesOfScript(tx, scriptId, now)) {
    await enqueueScheduleSync(tx, scheduleIdOf('script', id), now);
  }
}

async function cancelRuns(
  tx: Sql,
  { accountId }: Caller,
  id: number,
  context: Pick<Cancellation, 'now' | 'traceparent'>,
): Promise<void> {
  const operations = await findOpenRuns(tx, id);
  if (operations.length === 0) return;
  await lockBatchesOf(tx, accountId, operations);
  await cancelActivities(tx, { ...context, accountId, groups: [], operations, text: 'The script was redacted.' });
}

async function lockManageable(tx: Sql, caller: Caller, id: number): Promise<ScriptWithCode> {
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

function profilesText(script: ScriptWithCode): string {
  if (script.script_profiles.length === 0) return '';
  return `, which the script profiles ${titlesOf(script)} run`;
}

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

function eventOf({ id, title }: { id: number; title: string }, message: string) {
  return { entityType: 'Script' as const, entityId: id, entityName: title, message };
}

async function readPatch(
  tx: Sql,
  caller: Caller,
  script: ScriptWithCode,
  { title, username, timeLimit, accessGroup, code }: ScriptPatch,
): Promise<ScriptChange> {
  // Its profiles run in the new group from now on.
  const needed = script.script_profiles.length > 0 ? WITH_PROFILES : (['ManageScript'] as const);
  const isMoved = accessGroup !== undefined && accessGroup !== script.access_group;
  const change = {
    title: ifGiven(title, (given) => readLine('body.title', given)),
    username: ifGiven(username, readUsername),
    timeLimit,
    accessGroup: isMoved ? await requireAccessGroup(tx, caller, accessGroup, needed) : undefined,
  };
  const body = ifGiven(code, readScriptBody);
  const isNew = body && (body.code !== script.code || body.interpreter !== script.interpreter);
  return { ...change, body: isNew ? body : undefined };
}

async function readFiles(
  tx: Sql,
  { id }: ScriptWithCode,
  uploads: readonly AttachmentUpload[],
): Promise<AttachmentChange | undefined> {
  const present = await listAttachments(tx, id);
  const change = readAttachments(uploads, present);
  return change.added.length > 0 || change.kept.length < present.length ? change : undefined;
}

/** Callers may manage scripts without ViewScript; their response still contains the script. */
async function readAsEditor(tx: Sql, caller: Caller, id: number): Promise<ScriptView> {
  const asEditor: Caller = {
    ...caller,
    groups: (permission) => caller.groups(permission === 'ViewScript' ? 'ManageScript' : permission),
  };
  return readScript(tx, asEditor, id);
}

const WITH_PROFILES: readonly Permission[] = ['ManageScript', ...CODE_OF_PROFILES];

const DUPLICATE = {
  index: 'script_title',
  code: 'DuplicateScript',
  message: 'An active script with this title already exists',
} as const;

const PARTS = {
  title: 'the title',
  body: 'the code',
  timeLimit: 'the time limit',
  username: 'the user name',
  accessGroup: 'the access group',
  attachments: 'the attachments',
};
