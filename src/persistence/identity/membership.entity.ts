import { defineEntity, p } from '@mikro-orm/core';

const MembershipSchema = defineEntity({
  name: 'Membership',
  tableName: 'membership',
  properties: {
    accountId: p.integer().primary(),
    personId: p.integer().primary(),
    creationTime: p.datetime().onCreate(() => new Date()),
  },
});

export class Membership extends MembershipSchema.class {}
MembershipSchema.setClass(Membership);

const MembershipRoleSchema = defineEntity({
  name: 'MembershipRole',
  tableName: 'membership_role',
  properties: {
    accountId: p.integer().primary(),
    personId: p.integer().primary(),
    roleId: p.integer().primary(),
  },
});

export class MembershipRole extends MembershipRoleSchema.class {}
MembershipRoleSchema.setClass(MembershipRole);
