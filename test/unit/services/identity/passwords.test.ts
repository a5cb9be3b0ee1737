import { beforeEach, describe, expect, it, vi } from 'vitest';

const { work } = vi.hoisted(() => ({ work: [] as object[] }));
vi.mock('node:crypto', async (original) => {
  const crypto = await original<typeof import('node:crypto')>();
  const argon2: typeof crypto.argon2 = (algorithm, parameters, callback) => {
    const { memory, passes, parallelism, tagLength } = parameters;
    work.push({ algorithm, memory, passes, parallelism, tagLength });
    crypto.argon2(algorithm, parameters, callback);
  };
  return { ...crypto, argon2 };
});

// Another file may have loaded it without the mock.
vi.resetModules();
const { hashPassword, isOutdated, normalisePassword, verifyPassword } = await import(
  '../../../../src/services/identity/login/passwords.ts'
);
const COST = { algorithm: 'argon2id', memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 };

beforeEach(() => {
  work.length = 0;
});

describe('passwords', () => {
  it('LOGIN-enum: cost the same work right, wrong, and where there is no hash', async () => {
    const hash = await hashPassword('correct horse');
    work.length = 0;
    expect(await verifyPassword('correct horse', hash)).toBe(true);
    expect(await verifyPassword('wrong horse', hash)).toBe(false);
    expect(await verifyPassword('wrong horse', null)).toBe(false);
    expect(work).toEqual([COST, COST, COST]);
  });

  it('LOGIN-long: are rejected above 1,024 bytes without any', () => {
    expect(() => normalisePassword('x'.repeat(1025))).toThrow('1024 bytes');
    expect(() => normalisePassword('\ufdfa'.repeat(400))).toThrow('1024 bytes');
    expect(normalisePassword('x'.repeat(1024))).toHaveLength(1024);
    expect(work).toEqual([]);
  });

  it('are outdated when they were made with less memory or fewer passes', async () => {
    const hash = await hashPassword('correct horse');
    expect(isOutdated(hash)).toBe(false);
    expect(isOutdated(hash.replace('m=19456', 'm=19455'))).toBe(true);
    expect(isOutdated(hash.replace('t=2', 't=1'))).toBe(true);
    expect(isOutdated(hash.replace('m=19456,t=2', 'm=65536,t=3'))).toBe(false);
  });
});
