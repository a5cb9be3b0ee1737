import type { Router } from 'express';
import type { AccessGroupsService } from '../../services/identity/access-groups.service.ts';
import { createRouter, type Handler, type RouteDeps } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';
import type { components } from '../openapi/types.generated.ts';

export function accessGroupsRoutes({ operation, services: { accessGroups } }: RouteDeps): Router {
  const listAccessGroups: Handler<'listAccessGroups'> = async (context) =>
    envelope(context, await accessGroups.list(context.caller, pageOf(context)), toAccessGroupResponse);
  const createAccessGroup: Handler<'createAccessGroup'> = async ({ caller, body: { title, parent } }) =>
    toAccessGroupResponse(await accessGroups.create(caller, title, parent ?? undefined));
  const getAccessGroup: Handler<'getAccessGroup'> = async ({ caller, params }) =>
    toAccessGroupResponse(await accessGroups.get(caller, params.access_group_name));
  const renameAccessGroup: Handler<'renameAccessGroup'> = async ({ caller, params, body }) =>
    toAccessGroupResponse(await accessGroups.rename(caller, params.access_group_name, body.title));
  const deleteAccessGroup: Handler<'deleteAccessGroup'> = async ({ caller, params }) =>
    toAccessGroupResponse(await accessGroups.remove(caller, params.access_group_name));
  return createRouter()
    .get('/access-groups', operation('listAccessGroups', listAccessGroups))
    .post('/access-groups', operation('createAccessGroup', createAccessGroup))
    .get('/access-groups/:access_group_name', operation('getAccessGroup', getAccessGroup))
    .patch('/access-groups/:access_group_name', operation('renameAccessGroup', renameAccessGroup))
    .delete('/access-groups/:access_group_name', operation('deleteAccessGroup', deleteAccessGroup));
}

type AccessGroup = Awaited<ReturnType<AccessGroupsService['get']>>;

function toAccessGroupResponse({ name, title, parent, children }: AccessGroup): components['schemas']['AccessGroup'] {
  return { name, title, parent, children };
}
