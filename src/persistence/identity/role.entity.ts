import { defineEntity, p } from '@mikro-orm/core';

const RoleSchema = defineEntity({
  name: 'Role',
  tableName: 'role',
  properties: {
    id: p.integer().primary(),
    accountId: p.integer(),
    name: p.text(),
    description: p.text().default(''),
    readOnly: p.boolean().default(false),
    permissions: p.array(),
    globalPermissions: p.array(),
  },
});

export class Role extends RoleSchema.class {}
RoleSchema.setClass(Role);

const RoleAccessGroupSchema = defineEntity({
  name: 'RoleAccessGroup',
  tableName: 'role_access_group',
  properties: { roleId: p.integer().primary(), accessGroupId: p.integer().primary() },
});

export class RoleAccessGroup extends RoleAccessGroupSchema.class {}
RoleAccessGroupSchema.setClass(RoleAccessGroup);
