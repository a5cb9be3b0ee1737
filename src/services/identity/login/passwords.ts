import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import type { PasswordPolicy } from '../../../process/config.ts';
import { DomainError } from '../../../domain/common/errors.ts';
import { isCommonPassword } from './common-passwords.ts';

const MAX_CHARACTERS = 128;
const MAX_BYTES = 1024;
const SALT_BYTES = 16;
const TAG_BYTES = 32;
/** OWASP's first choice for argon2id. @see docs/limits.md#requests-of-clients */
const COST = { memoryKib: 19 * 1024, passes: 2, parallelism: 1 };

const derive = promisify(argon2);

/** Normalises a password (NFC) for hashing and comparison. @throws {DomainError} InvalidParameter above 1,024 bytes */
export function normalisePassword(password: string, path = 'body.password'): string {
  const normal = password.length > MAX_BYTES ? password : password.normalize('NFC');
  if (Buffer.byteLength(normal) > MAX_BYTES) throw passwordError(`must not have more than ${MAX_BYTES} bytes`, path);
  return normal;
}

/** Rejects a normalised one that is weak or in `context` (texts about its owner). @throws InvalidParameter */
export function checkNewPassword(
  password: string,
  { minCharacters, strong }: PasswordPolicy,
  context: readonly string[],
  path = 'body.password',
): void {
  const characters = [...password].length;
  if (characters < minCharacters || characters > MAX_CHARACTERS) {
    throw passwordError(`must have ${minCharacters} to ${MAX_CHARACTERS} characters`, path);
  }
  const mixed = /\p{Lu}/u.test(password) && /\p{Ll}/u.test(password) && /\d/.test(password);
  if (strong && !mixed) throw passwordError('must have an upper case letter, a lower case letter and a digit', path);
  if (isCommonPassword(password, context)) {
    throw passwordError('is too common: words that many use, names, sequences and repetitions are guessed first', path);
  }
}

/** Hashes a normalised password with argon2id and a new salt, as a PHC string. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const tag = await deriveTag(password, salt, COST, TAG_BYTES);
  const cost = `m=${COST.memoryKib},t=${COST.passes},p=${COST.parallelism}`;
  return `$argon2id$v=19$${cost}$${encode(salt)}$${encode(tag)}`;
}

/** Compares a normalised password with a stored hash in constant time; null takes equally long and is false. */
export async function verifyPassword(password: string, stored: string | null): Promise<boolean> {
  const phc = PHC.exec(stored ?? DECOY)!;
  const [, memoryKib, passes, parallelism, salt, tag] = phc;
  const expected = Buffer.from(tag!, 'base64');
  const cost = { memoryKib: Number(memoryKib), passes: Number(passes), parallelism: Number(parallelism) };
  const actual = await deriveTag(password, Buffer.from(salt!, 'base64'), cost, expected.length);
  return timingSafeEqual(actual, expected) && stored !== null;
}

/** Whether a stored hash was made at a lower cost than new ones. */
export function isOutdated(stored: string): boolean {
  const [, memoryKib, passes] = PHC.exec(stored)!;
  return Number(memoryKib) < COST.memoryKib || Number(passes) < COST.passes;
}

const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;
const DECOY = `$argon2id$v=19$m=${COST.memoryKib},t=${COST.passes},p=${COST.parallelism}$${encode(randomBytes(SALT_BYTES))}$${encode(randomBytes(TAG_BYTES))}`;

function deriveTag(password: string, nonce: Buffer, cost: typeof COST, tagLength: number): Promise<Buffer> {
  return derive('argon2id', {
    message: password,
    nonce,
    memory: cost.memoryKib,
    passes: cost.passes,
    parallelism: cost.parallelism,
    tagLength,
  });
}

function encode(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}

function passwordError(message: string, path: string): DomainError {
  return new DomainError('InvalidParameter', `The password ${message}`, { details: [{ path, message }] });
}
