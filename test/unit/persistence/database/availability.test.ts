import { describe, expect, it } from 'vitest';
import { isDatabaseUnavailable, isSerializationFailure } from '../../../../src/persistence/database/errors.ts';

const SYSTEM = ['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EHOSTDOWN'];
const errorOf = (code: string) => Object.assign(new Error('refused'), { code });

describe('errors of PostgreSQL', () => {
  it.each(['08006', '53100', '53300', '57P01', '57P03', '57014', '25006', '40001', '40P01', '58030', ...SYSTEM])(
    '%s means that it cannot serve just now',
    (code) => {
      expect(isDatabaseUnavailable(errorOf(code))).toBe(true);
      expect(isDatabaseUnavailable(new Error('wrapped', { cause: errorOf(code) }))).toBe(true);
    },
  );

  it.each(['23505', '22P02', '42601', '42P01'])('%s is a defect or a conflict', (code) => {
    expect(isDatabaseUnavailable(errorOf(code))).toBe(false);
  });

  it('distinguish a serialization failure, which can be retried, from the rest', () => {
    expect(['40001', '40P01', '57014', '53300'].map((code) => isSerializationFailure(errorOf(code)))).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(isSerializationFailure(null)).toBe(false);
  });
});
