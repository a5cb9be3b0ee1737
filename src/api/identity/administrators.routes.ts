import type { Router } from 'express';
import { GLOBAL_PERMISSIONS, GROUP_PERMISSIONS } from '../../domain/identity/permissions.ts';
import type { Services } from '../../services/setup/services.ts';
import type { RoleView } from '../../services/setup/views.ts';
import type { Handler, ServeOperation } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';
import { createRouter } from '../http/router.ts';
import type { components } from '../openapi/types.generated.ts';

type Schemas = components['schemas'];

const PERMISSIONS = [
  ...GROUP_PERMISSIONS.map((name) => ({ name, global: false })),
  ...GLOBAL_PERMISSIONS.map((name) => ({ name, global: true })),
].map(toPermissionResponse);

export function administratorsRoutes(deps: {
  operation: ServeOperation;
  services: Pick<Services, 'administrators' | 'emailChanges' | 'roles'>;
  publicUrl: string;
}): Router {
  const { operation } = deps;
  const { administrators, emailChanges, roles } = deps.services;
  const listAdministrators: Handler<'listAdministrators'> = async (context) => {
    return {
      body: envelope(context, deps.publicUrl, await administrators.list(context.caller, pageOf(context))),
    };
  };
  const setAdministratorRoles: Handler<'setAdministratorRoles'> = async ({ caller, params, body }) => {
    const wanted = body.roles;
    return { body: await administrators.setRoles(caller, params.person_id, wanted) };
  };
  const confirmAdministratorEmail: Handler<'confirmAdministratorEmail'> = async ({ caller, params, body }) => {
    const { email } = body;
    return { body: await emailChanges.confirmFor(caller, params.person_id, email) };
  };
  const deleteAdministrator: Handler<'deleteAdministrator'> = async ({ caller, params }) => {
    await administrators.remove(caller, params.person_id);
    return { status: 204 };
  };
  const listRoles: Handler<'listRoles'> = async (context) => {
    const { count, results } = await roles.list(context.caller, pageOf(context));
    return { body: envelope(context, deps.publicUrl, { count, results: results.map(toRoleResponse) }) };
  };
  const createRole: Handler<'createRole'> = async ({ caller, body }) => {
    const role = await roles.create(caller, body.name, changeOf(body));
    return { status: 201, body: toRoleResponse(role) };
  };
  const changeRole: Handler<'changeRole'> = async ({ caller, params, body }) => {
    return { body: toRoleResponse(await roles.change(caller, params.role_name, changeOf(body))) };
  };
  const deleteRole: Handler<'deleteRole'> = async ({ caller, params }) => {
    await roles.remove(caller, params.role_name);
    return { status: 204 };
  };
  const listPermissions: Handler<'listPermissions'> = async (context) => {
    const { limit, offset } = pageOf(context);
    const results = PERMISSIONS.slice(offset, offset + limit);
    return { body: envelope(context, deps.publicUrl, { count: PERMISSIONS.length, results }) };
  };
  return createRouter()
    .get('/administrators', operation('listAdministrators', listAdministrators))
    .put('/administrators/:person_id', operation('setAdministratorRoles', setAdministratorRoles))
    .post(
      '/administrators/:person_id\\:confirm-email',
      operation('confirmAdministratorEmail', confirmAdministratorEmail),
    )
    .delete('/administrators/:person_id', operation('deleteAdministrator', deleteAdministrator))
    .get('/roles', operation('listRoles', listRoles))
    .post('/roles', operation('createRole', createRole))
    .patch('/roles/:role_name', operation('changeRole', changeRole))
    .delete('/roles/:role_name', operation('deleteRole', deleteRole))
    .get('/permissions', operation('listPermissions', listPermissions));
}

function changeOf({ description, permissions, global_permissions, access_groups }: Schemas['RoleChange']) {
  return {
    description: description ?? undefined,
    permissions: permissions ?? undefined,
    globalPermissions: global_permissions ?? undefined,
    accessGroups: access_groups ?? undefined,
  };
}

function toRoleResponse({ id: _id, read_only: _readOnly, ...rest }: RoleView) {
  return rest;
}

function toPermissionResponse({ name, global }: { name: string; global: boolean }) {
  const words = name.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
  return { name, title: words.charAt(0).toUpperCase() + words.slice(1), global };
}
