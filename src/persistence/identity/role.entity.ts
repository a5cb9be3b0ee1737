import { defineEntity, p } from '@mikro-orm/core';
import { AccessGroup } from './access-group.entity.ts';
import { Account } from './account.entity.ts';

export const RoleSchema = defineEntity({
  name: 'Role',
  tableName: 'role',
  properties: {
    id: p.integer().generated('by default as identity').primary(),
    account: () => p.manyToOne(Account).deleteRule('cascade').ref(),
    name: p.text(),
    description: p.text().default(''),
    readOnly: p.boolean().default(false),
    permissions: p.array(),
    globalPermissions: p.array(),
  },
  uniques: [{ name: 'role_account_id_name_key', properties: ['account', 'name'] }],
});

export class Role extends RoleSchema.class {}
RoleSchema.setClass(Role);

export const RoleAccessGroupSchema = defineEntity({
  name: 'RoleAccessGroup',
  tableName: 'role_access_group',
  properties: {
    role: () => p.manyToOne(Role).deleteRule('cascade').updateRule('no action').ref().primary(),
    accessGroup: () =>
      p
        .manyToOne(AccessGroup)
        .deleteRule('cascade')
        .updateRule('no action')
        .ref()
        .primary()
        .index('role_access_group_group'),
  },
});

export class RoleAccessGroup extends RoleAccessGroupSchema.class {}
RoleAccessGroupSchema.setClass(RoleAccessGroup);
