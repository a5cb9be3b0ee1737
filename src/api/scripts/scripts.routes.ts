import type { Router } from 'express';
import type {
  ScriptCommand,
  ScriptPatch,
  ScriptQuery,
  ScriptRequest,
  ScriptView,
} from '../../services/scripts/model.ts';
import type { Services } from '../../services/setup/services.ts';
import type { ScriptVersionView } from '../../services/setup/views.ts';
import { toActivityResponse } from '../activities/activity-responses.ts';
import { readActingQuery, readDeliveryFields } from '../activities/request-fields.ts';
import { readListStatus, type StatusAlias } from '../common/list-status.ts';
import { formatLocalTime } from '../common/time.ts';
import type { Handler, RequestContext, ServeOperation } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';
import { RawBody } from '../http/response-bodies.ts';
import { createRouter } from '../http/router.ts';
import type { components } from '../openapi/types.generated.ts';

type Schemas = components['schemas'];

export function scriptsRoutes(deps: {
  operation: ServeOperation;
  services: Pick<Services, 'scripts'>;
  publicUrl: string;
}): Router {
  const { operation } = deps;
  const { scripts } = deps.services;
  const listScripts: Handler<'listScripts'> = async (context) => {
    const { count, results } = await scripts.list(context.caller, readScriptQuery(context));
    return { body: envelope(context, deps.publicUrl, { count, results: results.map(toScriptResponse) }) };
  };
  const createScript: Handler<'createScript'> = async ({ caller, body }) => {
    return { status: 201, body: toScriptDetailResponse(await scripts.create(caller, readScriptRequest(body))) };
  };
  const getScript: Handler<'getScript'> = async ({ caller, params }) => {
    return { body: toScriptDetailResponse(await scripts.get(caller, params.script_id)) };
  };
  const patchScript: Handler<'patchScript'> = async ({ caller, params, body }) => {
    return { body: toScriptDetailResponse(await scripts.patch(caller, params.script_id, readScriptPatch(body))) };
  };
  const archiveScript: Handler<'archiveScript'> = async ({ caller, params }) => {
    await scripts.archive(caller, params.script_id);
    return { status: 204 };
  };
  const redactScript: Handler<'redactScript'> = async ({ caller, params, traceparent }) => {
    await scripts.redact(caller, params.script_id, traceparent);
    return { status: 204 };
  };
  const executeScript: Handler<'executeScript'> = async ({ caller, params, body, traceparent }) => {
    const command = readScriptCommand(body, traceparent);
    return { body: toActivityResponse(await scripts.execute(caller, params.script_id, command)) };
  };
  const listScriptVersions: Handler<'listScriptVersions'> = async (context) => {
    const id = context.params.script_id;
    const { count, rows } = await scripts.versions(context.caller, id, pageOf(context));
    const results = rows.map((row) => toScriptVersionResponse(id, row));
    return { body: envelope(context, deps.publicUrl, { count, results }) };
  };
  const getScriptVersion: Handler<'getScriptVersion'> = async ({ caller, params }) => {
    const version = await scripts.version(caller, params.script_id, params.script_version_id);
    return { body: toScriptVersionDetailResponse(params.script_id, version) };
  };
  const getScriptAttachment: Handler<'getScriptAttachment'> = async ({ caller, params }) => {
    const bytes = await scripts.attachment(caller, params.script_id, params.script_attachment_id);
    return { body: new RawBody(bytes, 'application/octet-stream') };
  };
  return createRouter()
    .get('/scripts', operation('listScripts', listScripts))
    .post('/scripts', operation('createScript', createScript))
    .get('/scripts/:script_id', operation('getScript', getScript))
    .patch('/scripts/:script_id', operation('patchScript', patchScript))
    .post('/scripts/:script_id\\:archive', operation('archiveScript', archiveScript))
    .post('/scripts/:script_id\\:redact', operation('redactScript', redactScript))
    .post('/scripts/:script_id\\:execute', operation('executeScript', executeScript))
    .get('/scripts/:script_id/versions', operation('listScriptVersions', listScriptVersions))
    .get('/scripts/:script_id/versions/:script_version_id', operation('getScriptVersion', getScriptVersion))
    .get(
      '/scripts/:script_id/attachments/:script_attachment_id',
      operation('getScriptAttachment', getScriptAttachment),
    );
}

function toScriptResponse(script: ScriptView): Schemas['ScriptItem'] {
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
function toScriptDetailResponse(script: ScriptView): Schemas['Script'] {
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

const SCRIPT_TYPE: StatusAlias<ScriptStatus, 'script_type'> = {
  name: 'script_type',
  meaning: { v2: 'active', active: 'active', archived: 'archived', redacted: 'redacted', all: 'all' },
};

/** Active scripts by default. @throws {DomainError} InvalidParameterCombination */
function readScriptQuery({ query }: RequestContext<'listScripts'>): ScriptQuery {
  const status = readListStatus(query, SCRIPT_TYPE, 'active');
  return { ...pageOf({ query }), status: status === 'all' ? null : status, search: query.search || null };
}

function readScriptRequest(request: Schemas['ScriptRequest']): ScriptRequest {
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
function readScriptPatch(patch: Schemas['ScriptPatch']): ScriptPatch {
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
function readScriptCommand(command: Schemas['ScriptCommand'], traceparent: string | null): ScriptCommand {
  return {
    query: readActingQuery(command),
    username: command.username ?? null,
    timeLimit: command.time_limit ?? null,
    ...readDeliveryFields(command),
    traceparent,
  };
}
