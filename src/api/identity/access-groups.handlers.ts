import type { AccessGroupsService } from '../../services/identity/access-groups.service.ts';
import type { Handlers, Schemas, Services } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';

export function accessGroupsHandlers({ accessGroups }: Services) {
  return {
    listAccessGroups: async (context) =>
      envelope(context, await accessGroups.list(context.caller, pageOf(context)), toAccessGroupResponse),
    createAccessGroup: async ({ caller, body: { title, parent } }) =>
      toAccessGroupResponse(await accessGroups.create(caller, title, parent ?? undefined)),
    getAccessGroup: async ({ caller, params }) =>
      toAccessGroupResponse(await accessGroups.get(caller, params.access_group_name)),
    renameAccessGroup: async ({ caller, params, body }) =>
      toAccessGroupResponse(await accessGroups.rename(caller, params.access_group_name, body.title)),
    deleteAccessGroup: async ({ caller, params }) =>
      toAccessGroupResponse(await accessGroups.remove(caller, params.access_group_name)),
  } satisfies Handlers;
}

type AccessGroup = Awaited<ReturnType<AccessGroupsService['get']>>;

function toAccessGroupResponse({ name, title, parent, children }: AccessGroup): Schemas['AccessGroup'] {
  return { name, title, parent, children };
}
