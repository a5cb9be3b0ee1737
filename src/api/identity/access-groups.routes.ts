import type { Services } from '../../services/setup/services.ts';
import type { AccessGroupView } from '../../services/setup/views.ts';
import type { Handlers, RequestContext } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';
import type { components } from '../openapi/types.generated.ts';

type Schemas = components['schemas'];

export function accessGroupsRoutes(deps: { services: Pick<Services, 'accessGroups'>; publicUrl: string }): Handlers {
  const { accessGroups } = deps.services;
  return {
    async listAccessGroups(context) {
      const { count, results } = await accessGroups.list(context.caller, pageOf(context));
      return { body: envelope(context, deps.publicUrl, { count, results: results.map(toAccessGroupResponse) }) };
    },
    async createAccessGroup({ caller, body }) {
      const { title, parent } = body as Schemas['AccessGroupRequest'];
      return {
        status: 201,
        body: toAccessGroupResponse(await accessGroups.create(caller, title, parent ?? undefined)),
      };
    },
    async getAccessGroup(context) {
      return { body: toAccessGroupResponse(await accessGroups.get(context.caller, nameOf(context))) };
    },
    async renameAccessGroup(context) {
      const { title } = context.body as Schemas['AccessGroupTitle'];
      return { body: toAccessGroupResponse(await accessGroups.rename(context.caller, nameOf(context), title)) };
    },
    async deleteAccessGroup(context) {
      return { body: toAccessGroupResponse(await accessGroups.remove(context.caller, nameOf(context))) };
    },
  };
}

function nameOf({ params }: RequestContext): string {
  return params['access_group_name'] as string;
}

function toAccessGroupResponse({ name, title, parent, children }: AccessGroupView) {
  return { name, title, parent, children };
}
