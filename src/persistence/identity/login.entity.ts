import { defineEntity, p } from '@mikro-orm/core';

export const LoginAddressSchema = defineEntity({
  name: 'LoginAddress',
  tableName: 'login_address',
  properties: {
    nameDigest: p.blob().primary(),
    address: p.text().primary(),
    lastSuccess: p.datetime().defaultRaw('now()'),
  },
});

export const LoginFailureSchema = defineEntity({
  name: 'LoginFailure',
  tableName: 'login_failure',
  properties: {
    nameDigest: p.blob().primary(),
    address: p.text().primary(),
    at: p.datetime().defaultRaw('now()').primary().index('login_failure_at'),
  },
  indexes: [
    { name: 'login_failure_address', properties: ['address', 'at'] },
    { name: 'login_failure_name', properties: ['nameDigest', 'at'] },
  ],
});

/** A failed login, for the throttle. The table has no key. */
export class LoginFailure extends LoginFailureSchema.class {}
LoginFailureSchema.setClass(LoginFailure);
