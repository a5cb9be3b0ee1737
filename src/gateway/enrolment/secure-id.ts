import { createHash, randomBytes } from 'node:crypto';

const SECURE_ID_BYTES = 30;

/** Makes the secret by which an agent is known from now on. */
export function newSecureId(): string {
  return randomBytes(SECURE_ID_BYTES).toString('base64url');
}

/** What is stored of it. Unsalted, as it is found by its hash and has entropy enough. */
export function hashSecureId(secureId: string): Buffer {
  return createHash('sha256').update(secureId).digest();
}
