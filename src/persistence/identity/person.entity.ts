import { defineEntity, p } from '@mikro-orm/core';
import { Account } from './account.entity.ts';

export const PersonSchema = defineEntity({
  name: 'Person',
  tableName: 'person',
  properties: {
    id: p.integer().generated('by default as identity').primary(),
    name: p.text(),
    email: p.text(),
    allowableEmails: p.array(),
    identity: p.text().unique('person_identity'),
    passwordHash: p.text().strictNullable(),
    timezone: p.text().default('UTC'),
    preferredAccount: () =>
      p.manyToOne(Account).deleteRule('no action').ref().strictNullable().index('person_preferred_account'),
    lastLoginTime: p.datetime().strictNullable(),
    lastLoginHost: p.text().strictNullable(),
    creationTime: p.datetime().defaultRaw('now()'),
    tokenEpoch: p.integer().default(0),
    operator: p.boolean().default(false),
    testMailTimes: p
      .array(
        (time) => new Date(time),
        (time) => time.toISOString(),
      )
      .columnType('timestamptz[]')
      .default([]),
  },
  indexes: [
    {
      name: 'person_email',
      expression: 'CREATE UNIQUE INDEX person_email ON public.person USING btree (lower(email))',
    },
    {
      name: 'person_identity_spellings',
      expression: 'CREATE INDEX person_identity_spellings ON public.person USING btree (lower(identity))',
    },
  ],
});

export class Person extends PersonSchema.class {}
PersonSchema.setClass(Person);

export const PersonAddressSchema = defineEntity({
  name: 'PersonAddress',
  tableName: 'person_address',
  properties: {
    address: p.text().primary(),
    person: () => p.manyToOne(Person).deleteRule('cascade').ref().index('person_address_person'),
  },
});

export const EmailChangeSchema = defineEntity({
  name: 'EmailChange',
  tableName: 'email_change',
  properties: {
    person: () => p.oneToOne(Person).owner().deleteRule('cascade').updateRule('no action').ref().primary(),
    email: p.text(),
    tokenDigest: p.blob().strictNullable(),
    expiresAt: p.datetime(),
  },
});

export class EmailChange extends EmailChangeSchema.class {}
EmailChangeSchema.setClass(EmailChange);
