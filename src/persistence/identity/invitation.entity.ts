import { defineEntity, p } from '@mikro-orm/core';
import { Account } from './account.entity.ts';
import { Role } from './role.entity.ts';

export const InvitationSchema = defineEntity({
  name: 'Invitation',
  tableName: 'invitation',
  properties: {
    id: p.integer().generated('by default as identity').primary(),
    account: () => p.manyToOne(Account).deleteRule('cascade').ref(),
    secureId: p.text().unique('invitation_secure_id_key'),
    name: p.text(),
    email: p.text(),
    creationTime: p.datetime().defaultRaw('now()'),
    expiresAt: p.datetime().defaultRaw(`(now() + '14 days'::interval)`),
    bound: p.boolean().default(false),
  },
  indexes: [{ name: 'invitation_account', properties: ['account', 'id'] }],
});

export class Invitation extends InvitationSchema.class {}
InvitationSchema.setClass(Invitation);

export const InvitationRoleSchema = defineEntity({
  name: 'InvitationRole',
  tableName: 'invitation_role',
  properties: {
    invitation: () => p.manyToOne(Invitation).deleteRule('cascade').updateRule('no action').ref().primary(),
    role: () =>
      p.manyToOne(Role).deleteRule('cascade').updateRule('no action').ref().primary().index('invitation_role_role'),
  },
});

export class InvitationRole extends InvitationRoleSchema.class {}
InvitationRoleSchema.setClass(InvitationRole);

export const InvitationMailSchema = defineEntity({
  name: 'InvitationMail',
  tableName: 'invitation_mail',
  properties: {
    account: () => p.manyToOne(Account).deleteRule('cascade').ref().primary(),
    address: p.text().primary(),
    at: p.datetime().primary(),
  },
  indexes: [{ name: 'invitation_mail_address', properties: ['account', 'address', 'at'] }],
});

/** A sent invitation, for their limit. The table has no key. */
export class InvitationMail extends InvitationMailSchema.class {}
InvitationMailSchema.setClass(InvitationMail);
