import { defineEntity, p } from '@mikro-orm/core';
import { Account } from '../identity/account.entity.ts';
import { Computer } from './computer.entity.ts';

export const ContractSchema = defineEntity({
  name: 'Contract',
  tableName: 'contract',
  properties: {
    account: () => p.manyToOne(Account).deleteRule('cascade').ref().primary(),
    id: p.text().primary(),
    title: p.text().default(''),
    free: p.boolean().default(false),
    expires: p.datetime().strictNullable(),
  },
  checks: [{ name: 'contract_id_check', expression: '(length(id) >= 1) AND (length(id) <= 255)' }],
});

export const ComputerContractSchema = defineEntity({
  name: 'ComputerContract',
  tableName: 'computer_contract',
  properties: {
    accountId: p.integer(),
    computer: () => p.manyToOne(Computer).deleteRule('cascade').ref().primary(),
    contractId: p.text().primary(),
    contract: () =>
      p
        .manyToOne(ContractSchema)
        .joinColumns('account_id', 'contract_id')
        .deleteRule('cascade')
        .updateRule('no action')
        .ref()
        .nullable(),
  },
  indexes: [{ name: 'computer_contract_contract', properties: ['accountId', 'contractId', 'computer'] }],
});

export const LegacyLicenseSchema = defineEntity({
  name: 'LegacyLicense',
  tableName: 'legacy_license',
  properties: {
    id: p.integer().generated('by default as identity').primary(),
    account: () => p.manyToOne(Account).deleteRule('cascade').ref(),
    title: p.text().default(''),
    expires: p.datetime().strictNullable(),
  },
  indexes: [{ name: 'legacy_license_account', properties: ['account', 'id'] }],
});

export const ComputerLicenseSchema = defineEntity({
  name: 'ComputerLicense',
  tableName: 'computer_license',
  properties: {
    computer: () => p.oneToOne(Computer).owner().deleteRule('cascade').updateRule('no action').ref().primary(),
    license: () => p.manyToOne(LegacyLicenseSchema).deleteRule('cascade').ref(),
  },
  indexes: [{ name: 'computer_license_license', properties: ['license', 'computer'] }],
});
