import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { EncryptionKey } from '../../process/config.ts';

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

export interface EncryptedSecret {
  keyId: string;
  /** Nonce, authentication tag and encrypted text. */
  ciphertext: Buffer;
}

/** Decryption needs the same `context` (owner), so that secrets cannot be swapped. @throws without a key */
export function encryptSecret(keys: readonly EncryptionKey[], secret: string, context: string): EncryptedSecret {
  const key = keys[0];
  if (!key) throw new Error('no encryption key is configured');
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(ALGORITHM, key.key, iv).setAAD(Buffer.from(context));
  const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return { keyId: key.id, ciphertext: Buffer.concat([iv, cipher.getAuthTag(), text]) };
}

/** Reverses {@link encryptSecret}. @throws when the key is unknown, the context differs or the secret was changed */
export function decryptSecret(keys: readonly EncryptionKey[], secret: EncryptedSecret, context: string): string {
  const key = keys.find((candidate) => candidate.id === secret.keyId);
  if (!key) throw new Error('the encryption key of this secret is not configured');
  const iv = secret.ciphertext.subarray(0, IV_BYTES);
  const decipher = createDecipheriv(ALGORITHM, key.key, iv).setAAD(Buffer.from(context));
  decipher.setAuthTag(secret.ciphertext.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  const text = decipher.update(secret.ciphertext.subarray(IV_BYTES + TAG_BYTES));
  return Buffer.concat([text, decipher.final()]).toString('utf8');
}

export function recoveryKeyContext(computerId: number): string {
  return `recovery-key/${computerId}`;
}
