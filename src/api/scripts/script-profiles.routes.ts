import type { Services } from '../../services/setup/services.ts';
import { toParentResponse } from '../activities/activities.wire.ts';
import type { Handlers } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';
import { JsonText } from '../http/response-bodies.ts';
import { traceparentOf } from '../http/tracing.ts';
import {
  readScriptProfilePatch,
  readScriptProfileQuery,
  readScriptProfileRequest,
  toScriptProfileResponse,
} from './script-profiles.wire.ts';

const idOf = (params: Record<string, string | number>) => params['script_profile_id'] as number;

export function scriptProfilesRoutes(deps: {
  services: Pick<Services, 'scriptProfiles' | 'computers'>;
  publicUrl: string;
}): Handlers {
  const { scriptProfiles, computers } = deps.services;
  return {
    async listScriptProfiles(context) {
      const query = readScriptProfileQuery(context.query, pageOf(context));
      const { count, results } = await scriptProfiles.list(context.caller, query);
      return { body: envelope(context, deps.publicUrl, { count, results: results.map(toScriptProfileResponse) }) };
    },
    async createScriptProfile({ caller, body, request }) {
      const profile = await scriptProfiles.create(caller, readScriptProfileRequest(body, traceparentOf(request)));
      return { status: 201, body: toScriptProfileResponse(profile) };
    },
    async getScriptProfile({ caller, params }) {
      return { body: toScriptProfileResponse(await scriptProfiles.get(caller, idOf(params))) };
    },
    async patchScriptProfile({ caller, params, body, request }) {
      const patch = readScriptProfilePatch(body, traceparentOf(request));
      return { body: toScriptProfileResponse(await scriptProfiles.patch(caller, idOf(params), patch)) };
    },
    async archiveScriptProfile({ caller, params }) {
      await scriptProfiles.archive(caller, idOf(params));
      return { status: 204 };
    },
    async listScriptProfileActivities(context) {
      const { caller, params } = context;
      const { count, results } = await scriptProfiles.activities(caller, idOf(params), pageOf(context));
      return { body: envelope(context, deps.publicUrl, { count, results: results.map(toParentResponse) }) };
    },
    async listScriptProfileComputers(context) {
      const query = await scriptProfiles.computersQuery(context.caller, idOf(context.params));
      const flags = { rootOnly: false, wslParents: false, wslChildren: false, after: null };
      const page = await computers.list(
        context.caller,
        { query, status: 'active' as const, ...flags, ...pageOf(context) },
        new Set(),
      );
      const results = new JsonText(page.resultsJson);
      return { body: envelope(context, deps.publicUrl, { count: page.count, results }) };
    },
    async listProfilesOfScript(context) {
      const id = context.params['script_id'] as number;
      const { count, results } = await scriptProfiles.listOfScript(context.caller, id, pageOf(context));
      return { body: envelope(context, deps.publicUrl, { count, results: results.map(toScriptProfileResponse) }) };
    },
    async getScriptProfileLimits() {
      const { maxComputers, maxProfiles, minIntervalMinutes } = scriptProfiles.limits;
      const body = { max_num_computers: maxComputers, max_num_profiles: maxProfiles, min_interval: minIntervalMinutes };
      return { body };
    },
  };
}
