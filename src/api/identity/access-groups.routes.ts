import type { Router } from 'express';
import type { Services } from '../../services/setup/services.ts';
import type { AccessGroupView } from '../../services/setup/views.ts';
import type { Handler, ServeOperation } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';
import { createRouter } from '../http/router.ts';

export function accessGroupsRoutes(deps: {
  operation: ServeOperation;
  services: Pick<Services, 'accessGroups'>;
  publicUrl: string;
}): Router {
  const { operation } = deps;
  const { accessGroups } = deps.services;
  const listAccessGroups: Handler<'listAccessGroups'> = async (context) => {
    const { count, results } = await accessGroups.list(context.caller, pageOf(context));
    return { body: envelope(context, deps.publicUrl, { count, results: results.map(toAccessGroupResponse) }) };
  };
  const createAccessGroup: Handler<'createAccessGroup'> = async ({ caller, body }) => {
    const { title, parent } = body;
    return {
      status: 201,
      body: toAccessGroupResponse(await accessGroups.create(caller, title, parent ?? undefined)),
    };
  };
  const getAccessGroup: Handler<'getAccessGroup'> = async (context) => {
    return { body: toAccessGroupResponse(await accessGroups.get(context.caller, context.params.access_group_name)) };
  };
  const renameAccessGroup: Handler<'renameAccessGroup'> = async (context) => {
    const { title } = context.body;
    return {
      body: toAccessGroupResponse(await accessGroups.rename(context.caller, context.params.access_group_name, title)),
    };
  };
  const deleteAccessGroup: Handler<'deleteAccessGroup'> = async (context) => {
    return { body: toAccessGroupResponse(await accessGroups.remove(context.caller, context.params.access_group_name)) };
  };
  return createRouter()
    .get('/access-groups', operation('listAccessGroups', listAccessGroups))
    .post('/access-groups', operation('createAccessGroup', createAccessGroup))
    .get('/access-groups/:access_group_name', operation('getAccessGroup', getAccessGroup))
    .patch('/access-groups/:access_group_name', operation('renameAccessGroup', renameAccessGroup))
    .delete('/access-groups/:access_group_name', operation('deleteAccessGroup', deleteAccessGroup));
}

function toAccessGroupResponse({ name, title, parent, children }: AccessGroupView) {
  return { name, title, parent, children };
}
