import { defineEntity, p } from '@mikro-orm/core';
import { Account } from '../identity/account.entity.ts';
import { Computer } from './computer.entity.ts';

export const ProfileSchema = defineEntity({
  name: 'Profile',
  tableName: 'profile',
  properties: {
    account: () => p.manyToOne(Account).deleteRule('cascade').ref().primary(),
    type: p.enum(['repository', 'package', 'upgrade', 'reboot', 'removal', 'wsl']).primary(),
    id: p.integer().primary(),
    name: p.text(),
    title: p.text(),
  },
  uniques: [{ name: 'profile_account_id_type_name_key', properties: ['account', 'type', 'name'] }],
  checks: [{ name: 'profile_id_check', expression: 'id > 0' }],
});

export const ComputerProfileSchema = defineEntity({
  name: 'ComputerProfile',
  tableName: 'computer_profile',
  properties: {
    accountId: p.integer(),
    computer: () => p.manyToOne(Computer).deleteRule('cascade').ref().primary(),
    type: p.text().primary(),
    profileId: p.integer().primary(),
    status: p.enum(['compliant', 'noncompliant']).strictNullable(),
    statusSince: p.datetime().defaultRaw('now()'),
    profile: () =>
      p
        .manyToOne(ProfileSchema)
        .joinColumns('account_id', 'type', 'profile_id')
        .deleteRule('cascade')
        .updateRule('no action')
        .ref()
        .nullable(),
  },
  indexes: [
    { name: 'computer_profile_noncompliant', properties: ['computer', 'type'], where: `status = 'noncompliant'::text` },
    {
      name: 'computer_profile_profile',
      properties: ['accountId', 'type', 'profileId'],
      include: ['computer', 'status'],
    },
  ],
});
