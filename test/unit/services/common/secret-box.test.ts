import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { openSecret, sealSecret } from '../../../../src/services/common/secret-box.ts';

const [old, current] = ['old', 'current'].map((id) => ({ id, key: randomBytes(32) })) as [
  { id: string; key: Buffer },
  { id: string; key: Buffer },
];

describe('sealSecret and openSecret', () => {
  it('give a secret back, also after the keys were rotated', () => {
    const sealed = sealSecret([old], 'secret é', 'computer/1');
    expect(sealed.keyId).toBe('old');
    expect(openSecret([current, old], sealed, 'computer/1')).toBe('secret é');
    expect(sealSecret([current, old], 'x', 'c').keyId).toBe('current');
  });

  it('never make the same bytes twice', () => {
    expect(sealSecret([old], 'x', 'c').sealed).not.toEqual(sealSecret([old], 'x', 'c').sealed);
  });

  it('refuse another context, changed bytes, a missing key', () => {
    const sealed = sealSecret([old], 'x', 'computer/1');
    expect(() => openSecret([old], sealed, 'computer/2')).toThrow();
    const changed = Buffer.from(sealed.sealed);
    changed[changed.length - 1]! ^= 1;
    expect(() => openSecret([old], { ...sealed, sealed: changed }, 'computer/1')).toThrow();
    expect(() => openSecret([current], sealed, 'computer/1')).toThrow('not configured');
    expect(() => sealSecret([], 'x', 'c')).toThrow('no encryption key');
  });
});
