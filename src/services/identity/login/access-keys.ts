import { createHash, randomInt, timingSafeEqual } from 'node:crypto';

const UPPER_AND_DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
export const LETTERS_AND_DIGITS = `${UPPER_AND_DIGITS}abcdefghijklmnopqrstuvwxyz`;
const KEY_LENGTH = 20;
const SECRET_LENGTH = 40;

/** An identifier of 20 upper-case letters and digits, and a secret of 40 characters. */
export function newAccessKey(): { accessKey: string; secretKey: string } {
  return {
    accessKey: randomText(UPPER_AND_DIGITS, KEY_LENGTH),
    secretKey: randomText(LETTERS_AND_DIGITS, SECRET_LENGTH),
  };
}

/** A secret of 40 characters for links in mails. */
export function newToken(): string {
  return randomText(LETTERS_AND_DIGITS, SECRET_LENGTH);
}

/** The stored form of a secret. Secrets have 238 random bits, so a slow hash would add no protection. */
export function digestSecret(secretKey: string): Buffer {
  return createHash('sha256').update(secretKey).digest();
}

/** Compares in constant time. @param stored - null for an unknown key, which takes equally long */
export function secretMatches(secretKey: string, stored: Buffer | null): boolean {
  return timingSafeEqual(digestSecret(secretKey), stored ?? DECOY) && stored !== null;
}

const DECOY = Buffer.alloc(32);

/** Cryptographically random. */
export function randomText(alphabet: string, length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('');
}
