import { createHash, randomBytes } from 'node:crypto';

const SECURE_ID_BYTES = 30;

export function newSecureId(): string {
  return randomBytes(SECURE_ID_BYTES).toString('base64url');
}

/** The stored form of an identity. Unsalted, because it is looked up by its hash and has enough entropy. */
export function hashSecureId(secureId: string): Buffer {
  return createHash('sha256').update(secureId).digest();
}
