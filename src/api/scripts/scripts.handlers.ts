import type {
  ScriptCommand,
  ScriptPatch,
  ScriptQuery,
  ScriptRequest,
  ScriptView,
} from '../../services/scripts/model.ts';
import type { ScriptsService } from '../../services/scripts/scripts.service.ts';
import { toActivityResponse } from '../activities/activity-responses.ts';
import { readActingQuery, readDeliveryFields } from '../activities/request-fields.ts';
import { readListStatus, type StatusAlias } from '../common/list-status.ts';
import { formatLocalTime } from '../common/time.ts';
import type { Handlers, RequestContext, Schemas, Services } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';

export function scriptsHandlers({ scripts }: Services) {
  return {
    listScripts: async (context) =>
      envelope(context, await scripts.list(context.caller, readScriptQuery(context)), toScriptResponse),
    createScript: async ({ caller, body }) =>
      toScriptDetailResponse(await scripts.create(caller, readScriptRequest(body))),
    getScript: async ({ caller, params }) => toScriptDetailResponse(await scripts.get(caller, params.script_id)),
    patchScript: async ({ caller, params, body }) =>
      toScriptDetailResponse(await scripts.patch(caller, params.script_id, readScriptPatch(body))),
    archiveScript: ({ caller, params }) => scripts.archive(caller, params.script_id),
    redactScript: ({ caller, params, traceparent }) => scripts.redact(caller, params.script_id, traceparent),
    executeScript: async ({ caller, params, body, traceparent }) =>
      toActivityResponse(await scripts.execute(caller, params.script_id, readScriptCommand(body, traceparent))),
    listScriptVersions: async (context) => {
      const id = context.params.script_id;
      const { count, rows } = await scripts.versions(context.caller, id, pageOf(context));
      return envelope(context, { count, results: rows }, (row) => toScriptVersionResponse(id, row));
    },
    getScriptVersion: async ({ caller, params }) => {
      const version = await scripts.version(caller, params.script_id, params.script_version_id);
      return toScriptVersionDetailResponse(params.script_id, version);
    },
    getScriptAttachment: ({ caller, params }) =>
      scripts.attachment(caller, params.script_id, params.script_attachment_id),
  } satisfies Handlers;
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

function toScriptDetailResponse(script: ScriptView): Schemas['Script'] {
  return { ...toScriptResponse(script), code: script.code ?? '' };
}

type ScriptVersion = Awaited<ReturnType<ScriptsService['version']>>;

function toScriptVersionResponse(id: number, version: ScriptVersion): Schemas['ScriptVersionItem'] {
  return {
    id,
    title: version.title,
    version_number: version.version,
    created_by: version.created_by,
    created_at: formatLocalTime(version.created_at),
  };
}

function toScriptVersionDetailResponse(id: number, version: ScriptVersion): Schemas['ScriptVersion'] {
  return { ...toScriptVersionResponse(id, version), interpreter: version.interpreter, code: version.code ?? '' };
}

type ScriptStatus = NonNullable<ScriptQuery['status']> | 'all';

const SCRIPT_TYPE: StatusAlias<ScriptStatus, 'script_type'> = {
  name: 'script_type',
  meaning: { v2: 'active', active: 'active', archived: 'archived', redacted: 'redacted', all: 'all' },
};

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

function readScriptCommand(command: Schemas['ScriptCommand'], traceparent: string | null): ScriptCommand {
  return {
    query: readActingQuery(command),
    username: command.username ?? null,
    timeLimit: command.time_limit ?? null,
    ...readDeliveryFields(command),
    traceparent,
  };
}
