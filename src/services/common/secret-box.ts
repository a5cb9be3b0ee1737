import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { EncryptionKey } from '../../process/config.ts';

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** A secret as it is stored: nonce, authentication tag and ciphertext, and the id of the key. */
export interface SealedSecret {
  keyId: string;
  sealed: Buffer;
}

/**
 * Encrypts a secret for storage with the newest key.
 *
 * @param context - what the secret belongs to; opening needs the same, so that stored secrets cannot be exchanged
 * @throws when there is no key
 */
export function sealSecret(keys: readonly EncryptionKey[], secret: string, context: string): SealedSecret {
  const key = keys[0];
  if (!key) throw new Error('no encryption key is configured');
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(ALGORITHM, key.key, iv).setAAD(Buffer.from(context));
  const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return { keyId: key.id, sealed: Buffer.concat([iv, cipher.getAuthTag(), text]) };
}

/**
 * Decrypts what {@link sealSecret} made.
 *
 * @throws when its key is not configured any more, or the secret belongs to another context or was changed
 */
export function openSecret(keys: readonly EncryptionKey[], secret: SealedSecret, context: string): string {
  const key = keys.find((candidate) => candidate.id === secret.keyId);
  if (!key) throw new Error('the encryption key of this secret is not configured');
  const iv = secret.sealed.subarray(0, IV_BYTES);
  const decipher = createDecipheriv(ALGORITHM, key.key, iv).setAAD(Buffer.from(context));
  decipher.setAuthTag(secret.sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  const text = decipher.update(secret.sealed.subarray(IV_BYTES + TAG_BYTES));
  return Buffer.concat([text, decipher.final()]).toString('utf8');
}

/** The context of a computer's recovery key. */
export function recoveryKeyContext(computerId: number): string {
  return `recovery-key/${computerId}`;
}
