import type { Script, ScriptCommand, ScriptPatch, ScriptQuery, ScriptRequest } from '../../services/scripts/model.ts';
import type { ScriptVersionView } from '../../services/setup/views.ts';
import { readActingQuery } from '../activities/acting-query.wire.ts';
import { readDeliveryFields } from '../activities/delivery.wire.ts';
import { readListStatus, type StatusAlias } from '../common/list-status.wire.ts';
import { formatLocalTime } from '../common/time.wire.ts';
import type { Page } from '../http/request/pagination.ts';
import type { components } from '../openapi/types.generated.ts';

type Schemas = components['schemas'];

export function toScriptResponse(script: Script): Schemas['ScriptItem'] {
  return {
    id: script.id,
    title: script.title,
    version_number: script.version,
    created_by: script.created_by,
    created_at: formatLocalTime(script.created_at),
    last_edited_by: script.last_edited_by,
    last_edited_at: formatLocalTime(script.last_edited_at),
    script_profiles: script.script_profiles,
    status: script.status.toUpperCase() as Schemas['ScriptItem']['status'],
    attachments: script.attachments,
    interpreter: script.interpreter,
    access_group: script.access_group,
    time_limit: script.time_limit,
    username: script.username,
    is_redactable: script.redactable,
    is_editable: script.editable,
    is_executable: script.executable,
  };
}

/** Redacted code is empty. */
export function toScriptDetailResponse(script: Script): Schemas['Script'] {
  return { ...toScriptResponse(script), code: script.code ?? '' };
}

export function toScriptVersionResponse(id: number, version: ScriptVersionView): Schemas['ScriptVersionItem'] {
  return {
    id,
    title: version.title,
    version_number: version.version,
    created_by: version.created_by,
    created_at: formatLocalTime(version.created_at),
  };
}

/** Redacted code is empty. */
export function toScriptVersionDetailResponse(id: number, version: ScriptVersionView): Schemas['ScriptVersion'] {
  return { ...toScriptVersionResponse(id, version), interpreter: version.interpreter, code: version.code ?? '' };
}

type ScriptStatus = NonNullable<ScriptQuery['status']> | 'all';

const SCRIPT_TYPE: StatusAlias<ScriptStatus> = {
  name: 'script_type',
  meaning: { v2: 'active', active: 'active', archived: 'archived', redacted: 'redacted', all: 'all' },
};

/** Active scripts by default. @throws {DomainError} InvalidParameterCombination */
export function readScriptQuery(query: Record<string, unknown>, page: Page): ScriptQuery {
  const status = readListStatus(query, SCRIPT_TYPE, 'active');
  const { search } = query as { search?: string };
  return { ...page, status: status === 'all' ? null : status, search: search || null };
}

/** Body of POST /scripts. */
export function readScriptRequest(body: unknown): ScriptRequest {
  const request = body as Schemas['ScriptRequest'];
  return {
    title: request.title,
    code: request.code,
    timeLimit: request.time_limit ?? null,
    username: request.username ?? null,
    accessGroup: request.access_group ?? null,
    attachments: uploadsOf(request.attachments) ?? [],
  };
}

/** Body of PATCH /scripts/<id>; null is the same as absent. */
export function readScriptPatch(body: unknown): ScriptPatch {
  const patch = body as Schemas['ScriptPatch'];
  return {
    title: patch.title ?? undefined,
    code: patch.code ?? undefined,
    timeLimit: patch.time_limit ?? undefined,
    username: patch.username ?? undefined,
    accessGroup: patch.access_group ?? undefined,
    attachments: uploadsOf(patch.attachments),
  };
}

function uploadsOf(attachments: Schemas['ScriptPatch']['attachments']): ScriptPatch['attachments'] {
  return attachments?.map(({ filename, content }) => ({ filename, content: content ?? null }));
}

/** Body of POST /scripts/<id>:execute. @throws {DomainError} InvalidParameterCombination */
export function readScriptCommand(body: unknown, traceparent: string | null): ScriptCommand {
  const command = body as Schemas['ScriptCommand'];
  return {
    query: readActingQuery(command),
    username: command.username ?? null,
    timeLimit: command.time_limit ?? null,
    ...readDeliveryFields(command),
    traceparent,
  };
}
