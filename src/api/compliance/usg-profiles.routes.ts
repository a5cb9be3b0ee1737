import type { Services } from '../../services/setup/services.ts';
import type { Handlers } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';
import { traceparentOf } from '../http/tracing.ts';
import type { components } from '../openapi/types.generated.ts';
import {
  readUsgProfilePatch,
  readUsgProfileQuery,
  readUsgProfileRequest,
  toStartedRunResponse,
  toUsgProfileResponse,
} from './usg-profiles.wire.ts';

const idOf = (params: Record<string, string | number>) => params['usg_profile_id'] as number;

export function usgProfilesRoutes(deps: { services: Pick<Services, 'usgProfiles'>; publicUrl: string }): Handlers {
  const { usgProfiles } = deps.services;
  return {
    async listUsgProfiles(context) {
      const query = readUsgProfileQuery(context.query, pageOf(context));
      const { count, results } = await usgProfiles.list(context.caller, query);
      return { body: envelope(context, deps.publicUrl, { count, results: results.map(toUsgProfileResponse) }) };
    },
    async createUsgProfile({ caller, body, request }) {
      const profile = await usgProfiles.create(caller, readUsgProfileRequest(body, traceparentOf(request)));
      return { status: 201, body: toUsgProfileResponse(profile) };
    },
    async getUsgProfile({ caller, params }) {
      return { body: toUsgProfileResponse(await usgProfiles.get(caller, idOf(params))) };
    },
    async patchUsgProfile({ caller, params, body }) {
      return { body: toUsgProfileResponse(await usgProfiles.patch(caller, idOf(params), readUsgProfilePatch(body))) };
    },
    async archiveUsgProfile({ caller, params }) {
      return { body: toUsgProfileResponse(await usgProfiles.archive(caller, idOf(params))) };
    },
    async executeUsgProfile({ caller, params, body, request }) {
      const { after } = (body ?? {}) as components['schemas']['FollowingRequest'];
      const options = { after: after ?? null, traceparent: traceparentOf(request) };
      return { body: toStartedRunResponse(await usgProfiles.execute(caller, idOf(params), options)) };
    },
  };
}
