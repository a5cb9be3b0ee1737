import { GLOBAL_PERMISSIONS, GROUP_PERMISSIONS } from '../../domain/identity/permissions.ts';
import type { AdministratorsService } from '../../services/identity/administrators.service.ts';
import type { RolesService } from '../../services/identity/roles.service.ts';
import type { Handlers, Schemas, Services } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';

const PERMISSIONS = [
  ...GROUP_PERMISSIONS.map((name) => ({ name, global: false })),
  ...GLOBAL_PERMISSIONS.map((name) => ({ name, global: true })),
];

export function administratorsHandlers(services: Services) {
  const { administrators, emailChanges, roles } = services;
  return {
    listAdministrators: async (context) =>
      envelope(context, await administrators.list(context.caller, pageOf(context)), toAdministratorResponse),
    setAdministratorRoles: async ({ caller, params, body }) =>
      toAdministratorResponse(await administrators.setRoles(caller, params.person_id, body.roles)),
    confirmAdministratorEmail: async ({ caller, params, body }) =>
      toAdministratorResponse(await emailChanges.confirmFor(caller, params.person_id, body.email)),
    deleteAdministrator: ({ caller, params }) => administrators.remove(caller, params.person_id),
    listRoles: async (context) => envelope(context, await roles.list(context.caller, pageOf(context)), toRoleResponse),
    createRole: async ({ caller, body }) => toRoleResponse(await roles.create(caller, body.name, changeOf(body))),
    changeRole: async ({ caller, params, body }) =>
      toRoleResponse(await roles.change(caller, params.role_name, changeOf(body))),
    deleteRole: ({ caller, params }) => roles.remove(caller, params.role_name),
    listPermissions: async (context) => {
      const { limit, offset } = pageOf(context);
      const results = PERMISSIONS.slice(offset, offset + limit);
      return envelope(context, { count: PERMISSIONS.length, results }, toPermissionResponse);
    },
  } satisfies Handlers;
}

function changeOf({ description, permissions, global_permissions, access_groups }: Schemas['RoleChange']) {
  return {
    description: description ?? undefined,
    permissions: permissions ?? undefined,
    globalPermissions: global_permissions ?? undefined,
    accessGroups: access_groups ?? undefined,
  };
}

type Administrator = Awaited<ReturnType<AdministratorsService['setRoles']>>;
type Role = Awaited<ReturnType<RolesService['create']>>;

function toAdministratorResponse({ id, name, email, roles }: Administrator): Schemas['Administrator'] {
  return { id, name, email, roles };
}

function toRoleResponse(role: Role): Schemas['Role'] {
  const { name, description, permissions, global_permissions, access_groups, persons } = role;
  return { name, description, permissions, global_permissions, access_groups, persons };
}

function toPermissionResponse({ name, global }: (typeof PERMISSIONS)[number]): Schemas['Permission'] {
  const words = name.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
  return { name, title: words.charAt(0).toUpperCase() + words.slice(1), global };
}
