import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { decryptSecret, encryptSecret } from '../../../../src/services/common/secret-box.ts';

const [old, current] = ['old', 'current'].map((id) => ({ id, key: randomBytes(32) })) as [
  { id: string; key: Buffer },
  { id: string; key: Buffer },
];

describe('encryptSecret and decryptSecret', () => {
  it('give a secret back, also after the keys were rotated', () => {
    const encrypted = encryptSecret([old], 'secret é', 'computer/1');
    expect(encrypted.keyId).toBe('old');
    expect(decryptSecret([current, old], encrypted, 'computer/1')).toBe('secret é');
    expect(encryptSecret([current, old], 'x', 'c').keyId).toBe('current');
  });

  it('never make the same bytes twice', () => {
    expect(encryptSecret([old], 'x', 'c').ciphertext).not.toEqual(encryptSecret([old], 'x', 'c').ciphertext);
  });

  it('reject another context, changed bytes, a missing key', () => {
    const encrypted = encryptSecret([old], 'x', 'computer/1');
    expect(() => decryptSecret([old], encrypted, 'computer/2')).toThrow();
    const changed = Buffer.from(encrypted.ciphertext);
    changed[changed.length - 1]! ^= 1;
    expect(() => decryptSecret([old], { ...encrypted, ciphertext: changed }, 'computer/1')).toThrow();
    expect(() => decryptSecret([current], encrypted, 'computer/1')).toThrow('not configured');
    expect(() => encryptSecret([], 'x', 'c')).toThrow('no encryption key');
  });
});
