import { defineEntity, p } from '@mikro-orm/core';
import { membershipByIds } from './membership.entity.ts';

export const CredentialSchema = defineEntity({
  name: 'Credential',
  tableName: 'credential',
  properties: {
    accessKey: p.text().primary(),
    accountId: p.integer(),
    personId: p.integer(),
    name: p.text(),
    secretDigest: p.blob(),
    creationTime: p.datetime().defaultRaw('now()'),
    expiresAt: p.datetime().strictNullable(),
    lastUsedAt: p.datetime().strictNullable(),
    membership: () => membershipByIds(),
  },
  uniques: [{ name: 'credential_name', properties: ['personId', 'accountId', 'name'] }],
});

export class Credential extends CredentialSchema.class {}
CredentialSchema.setClass(Credential);

export const AccessKeySchema = defineEntity({
  name: 'AccessKey',
  tableName: 'access_key',
  properties: {
    accountId: p.integer().primary(),
    personId: p.integer().primary(),
    accessKey: p.text().unique('access_key_access_key_key'),
    secretDigest: p.blob(),
    creationTime: p.datetime().defaultRaw('now()'),
    membership: () => membershipByIds(),
  },
});

export const RevokedTokenSchema = defineEntity({
  name: 'RevokedToken',
  tableName: 'revoked_token',
  properties: {
    tokenId: p.text().primary(),
    expiresAt: p.datetime().index('revoked_token_expires_at'),
  },
});

export class RevokedToken extends RevokedTokenSchema.class {}
RevokedTokenSchema.setClass(RevokedToken);
