import { GLOBAL_PERMISSIONS, GROUP_PERMISSIONS } from '../../domain/identity/permissions.ts';
import type { Services } from '../../services/setup/services.ts';
import type { RoleView } from '../../services/setup/views.ts';
import type { Handlers } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';
import type { components } from '../openapi/types.generated.ts';

type Schemas = components['schemas'];

const PERMISSIONS = [
  ...GROUP_PERMISSIONS.map((name) => ({ name, global: false })),
  ...GLOBAL_PERMISSIONS.map((name) => ({ name, global: true })),
].map(toPermissionResponse);

export function administratorsRoutes(deps: {
  services: Pick<Services, 'administrators' | 'emailChanges' | 'roles'>;
  publicUrl: string;
}): Handlers {
  const { administrators, emailChanges, roles } = deps.services;
  return {
    async listAdministrators(context) {
      return {
        body: envelope(context, deps.publicUrl, await administrators.list(context.caller, pageOf(context))),
      };
    },
    async setAdministratorRoles({ caller, params, body }) {
      const wanted = (body as Schemas['AdministratorRoles']).roles;
      return { body: await administrators.setRoles(caller, params['person_id'] as number, wanted) };
    },
    async confirmAdministratorEmail({ caller, params, body }) {
      const { email } = body as Schemas['AdministratorEmail'];
      return { body: await emailChanges.confirmFor(caller, params['person_id'] as number, email) };
    },
    async deleteAdministrator({ caller, params }) {
      await administrators.remove(caller, params['person_id'] as number);
      return { status: 204 };
    },
    async listRoles(context) {
      const { count, results } = await roles.list(context.caller, pageOf(context));
      return { body: envelope(context, deps.publicUrl, { count, results: results.map(toRoleResponse) }) };
    },
    async createRole({ caller, body }) {
      const role = await roles.create(caller, (body as Schemas['RoleRequest']).name, changeOf(body));
      return { status: 201, body: toRoleResponse(role) };
    },
    async changeRole({ caller, params, body }) {
      return { body: toRoleResponse(await roles.change(caller, params['role_name'] as string, changeOf(body))) };
    },
    async deleteRole({ caller, params }) {
      await roles.remove(caller, params['role_name'] as string);
      return { status: 204 };
    },
    async listPermissions(context) {
      const { limit, offset } = pageOf(context);
      const results = PERMISSIONS.slice(offset, offset + limit);
      return { body: envelope(context, deps.publicUrl, { count: PERMISSIONS.length, results }) };
    },
  };
}

function changeOf(body: unknown) {
  const { description, permissions, global_permissions, access_groups } = body as Schemas['RoleChange'];
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
