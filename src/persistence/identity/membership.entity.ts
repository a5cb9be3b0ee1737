import { defineEntity, p } from '@mikro-orm/core';
import { Account } from './account.entity.ts';
import { Person } from './person.entity.ts';
import { Role } from './role.entity.ts';

export const MembershipSchema = defineEntity({
  name: 'Membership',
  tableName: 'membership',
  properties: {
    account: () => p.manyToOne(Account).deleteRule('cascade').updateRule('no action').ref().primary(),
    person: () =>
      p.manyToOne(Person).deleteRule('cascade').updateRule('no action').ref().primary().index('membership_person'),
    creationTime: p.datetime().defaultRaw('now()'),
    number: p.integer().generated('by default as identity').autoincrement(),
  },
});

export class Membership extends MembershipSchema.class {}
MembershipSchema.setClass(Membership);

/** The membership that the columns `account_id` and `person_id` of a row name; it ends with the membership. */
export const membershipByIds = () =>
  p
    .manyToOne(Membership)
    .joinColumns('account_id', 'person_id')
    .deleteRule('cascade')
    .updateRule('no action')
    .ref()
    .nullable();

export const MembershipRoleSchema = defineEntity({
  name: 'MembershipRole',
  tableName: 'membership_role',
  properties: {
    accountId: p.integer().primary(),
    personId: p.integer().primary(),
    role: () => p.manyToOne(Role).deleteRule('cascade').ref().primary().index('membership_role_role'),
    membership: () => membershipByIds(),
  },
});

export class MembershipRole extends MembershipRoleSchema.class {}
MembershipRoleSchema.setClass(MembershipRole);

export const FormerMemberSchema = defineEntity({
  name: 'FormerMember',
  tableName: 'former_member',
  properties: {
    account: () => p.manyToOne(Account).deleteRule('cascade').updateRule('no action').ref().primary(),
    person: () =>
      p.manyToOne(Person).deleteRule('cascade').updateRule('no action').ref().primary().index('former_member_person'),
    leftAt: p.datetime(),
  },
});
