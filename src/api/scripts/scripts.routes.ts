import type { Services } from '../../services/setup/services.ts';
import { toActivityResponse } from '../activities/activities.wire.ts';
import type { Handlers } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';
import { RawBody } from '../http/response-bodies.ts';
import { traceparentOf } from '../http/tracing.ts';
import {
  readScriptCommand,
  readScriptPatch,
  readScriptQuery,
  readScriptRequest,
  toScriptDetailResponse,
  toScriptResponse,
  toScriptVersionDetailResponse,
  toScriptVersionResponse,
} from './scripts.wire.ts';

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
