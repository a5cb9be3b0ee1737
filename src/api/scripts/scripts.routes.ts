import type { Script, ScriptCommand, ScriptPatch, ScriptQuery, ScriptRequest } from '../../services/scripts/model.ts';
import type { Services } from '../../services/setup/services.ts';
import type { ScriptVersionView } from '../../services/setup/views.ts';
import { toActivityResponse } from '../activities/activity-responses.ts';
import { readActingQuery, readDeliveryFields } from '../activities/request-fields.ts';
import { readListStatus, type StatusAlias } from '../common/list-status.ts';
import { formatLocalTime } from '../common/time.ts';
import type { Handlers } from '../http/handler.ts';
import { envelope, type Page, pageOf } from '../http/request/pagination.ts';
import { RawBody } from '../http/response-bodies.ts';
import { traceparentOf } from '../http/tracing.ts';
import type { components } from '../openapi/types.generated.ts';

type Schemas = components['schemas'];

const idOf = (params: Record<string, string | number>) => params['script_id'] as number;

export function scriptsRoutes(deps: { services: Pick<Services, 'scripts'>; publicUrl: string }): Handlers {
  const { scripts } = deps.services;
  return {
    async listScripts(context) {
      const { count, results } = await scripts.list(context.caller, readScriptQuery(context.query, pageOf(context)));
      return { body: envelope(context, deps.publicUrl, { count, results: results.map(toScriptResponse) }) };
    },
    async createScript({ caller, body }) {
      return { status: 201, body: toScriptDetailResponse(await scripts.create(caller, readScriptRequest(body))) };
    },
    async getScript({ caller, params }) {
      return { body: toScriptDetailResponse(await scripts.get(caller, idOf(params))) };
    },
    async patchScript({ caller, params, body }) {
      return { body: toScriptDetailResponse(await scripts.patch(caller, idOf(params), readScriptPatch(body))) };
    },
    async archiveScript({ caller, params }) {
      await scripts.archive(caller, idOf(params));
      return { status: 204 };
    },
    async redactScript({ caller, params, request }) {
      await scripts.redact(caller, idOf(params), traceparentOf(request));
      return { status: 204 };
    },
    async executeScript({ caller, params, body, request }) {
      const command = readScriptCommand(body, traceparentOf(request));
      return { body: toActivityResponse(await scripts.execute(caller, idOf(params), command)) };
    },
    async listScriptVersions(context) {
      const id = idOf(context.params);
      const { count, rows } = await scripts.versions(context.caller, id, pageOf(context));
      const results = rows.map((row) => toScriptVersionResponse(id, row));
      return { body: envelope(context, deps.publicUrl, { count, results }) };
    },
    async getScriptVersion({ caller, params }) {
      const version = await scripts.version(caller, idOf(params), params['script_version_id'] as number);
      return { body: toScriptVersionDetailResponse(idOf(params), version) };
    },
    async getScriptAttachment({ caller, params }) {
      const bytes = await scripts.attachment(caller, idOf(params), params['script_attachment_id'] as number);
      return { body: new RawBody(bytes, 'application/octet-stream') };
    },
  };
}

function toScriptResponse(script: Script): Schemas['ScriptItem'] {
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
function toScriptDetailResponse(script: Script): Schemas['Script'] {
  return { ...toScriptResponse(script), code: script.code ?? '' };
}

function toScriptVersionResponse(id: number, version: ScriptVersionView): Schemas['ScriptVersionItem'] {
  return {
    id,
    title: version.title,
    version_number: version.version,
    created_by: version.created_by,
    created_at: formatLocalTime(version.created_at),
  };
}

/** Redacted code is empty. */
function toScriptVersionDetailResponse(id: number, version: ScriptVersionView): Schemas['ScriptVersion'] {
  return { ...toScriptVersionResponse(id, version), interpreter: version.interpreter, code: version.code ?? '' };
}

type ScriptStatus = NonNullable<ScriptQuery['status']> | 'all';

const SCRIPT_TYPE: StatusAlias<ScriptStatus> = {
  name: 'script_type',
  meaning: { v2: 'active', active: 'active', archived: 'archived', redacted: 'redacted', all: 'all' },
};

/** Active scripts by default. @throws {DomainError} InvalidParameterCombination */
function readScriptQuery(query: Record<string, unknown>, page: Page): ScriptQuery {
  const status = readListStatus(query, SCRIPT_TYPE, 'active');
  const { search } = query as { search?: string };
  return { ...page, status: status === 'all' ? null : status, search: search || null };
}

function readScriptRequest(body: unknown): ScriptRequest {
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
function readScriptPatch(body: unknown): ScriptPatch {
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
function readScriptCommand(body: unknown, traceparent: string | null): ScriptCommand {
  const command = body as Schemas['ScriptCommand'];
  return {
    query: readActingQuery(command),
    username: command.username ?? null,
    timeLimit: command.time_limit ?? null,
    ...readDeliveryFields(command),
    traceparent,
  };
}
