import { defineEntity, p } from '@mikro-orm/core';

const AccessGroupSchema = defineEntity({
  name: 'AccessGroup',
  tableName: 'access_group',
  properties: {
    id: p.integer().primary(),
    accountId: p.integer(),
    name: p.text(),
    title: p.text(),
    parentId: p.integer().nullable(),
  },
});

export class AccessGroup extends AccessGroupSchema.class {}
AccessGroupSchema.setClass(AccessGroup);
