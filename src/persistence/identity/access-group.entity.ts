import { defineEntity, p } from '@mikro-orm/core';
import { Account } from './account.entity.ts';

export const AccessGroupSchema = defineEntity({
  name: 'AccessGroup',
  tableName: 'access_group',
  properties: {
    id: p.integer().generated('by default as identity').primary(),
    account: () => p.manyToOne(Account).deleteRule('cascade').ref(),
    name: p.text(),
    title: p.text(),
    parent: () => p.manyToOne(AccessGroup).deleteRule('no action').ref().strictNullable().index('access_group_parent'),
  },
  uniques: [
    { name: 'access_group_account_id_name_key', properties: ['account', 'name'] },
    { name: 'access_group_title', properties: ['account', 'title'] },
  ],
});

export class AccessGroup extends AccessGroupSchema.class {}
AccessGroupSchema.setClass(AccessGroup);
