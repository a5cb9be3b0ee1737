import { createHash, randomInt, timingSafeEqual } from 'node:crypto';

const UPPER_AND_DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
const LETTERS_AND_DIGITS = `${UPPER_AND_DIGITS}abcdefghijklmnopqrstuvwxyz`;
const KEY_LENGTH = 20;
const SECRET_LENGTH = 40;

/** A new pair: an identifier of 20 upper-case letters and digits, and a secret of 40 characters. @see docs/api-conventions.md#tokens */
export function newAccessKey(): { accessKey: string; secretKey: string } {
  return {
    accessKey: randomText(UPPER_AND_DIGITS, KEY_LENGTH),
    secretKey: randomText(LETTERS_AND_DIGITS, SECRET_LENGTH),
  };
}

/** A secret that is mailed: 40 characters. */
export function newToken(): string {
  return randomText(LETTERS_AND_DIGITS, SECRET_LENGTH);
}

/** How a secret is stored. It is 238 random bits, so that a slow hash would protect nothing more. */
export function digestSecret(secretKey: string): Buffer {
  return createHash('sha256').update(secretKey).digest();
}

/** Compares in constant time; a key that does not exist takes the same. @param stored - null when there is no such key */
export function secretMatches(secretKey: string, stored: Buffer | null): boolean {
  return timingSafeEqual(digestSecret(secretKey), stored ?? DECOY) && stored !== null;
}

const DECOY = Buffer.alloc(32);

/** @returns text of `length` characters, each drawn alike from the alphabet */
export function randomText(alphabet: string, length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('');
}
