import type { Config } from '../../../process/config.ts';
import { DomainError, type ErrorDetail } from '../../../domain/common/errors.ts';
import { MAX_FAULTS } from '../../../services/common/fields.ts';

/** Most characters of all names in the header that tells what was ignored. */
const MAX_IGNORED = 4000;
/** Most characters of a name that are shown. */
const MAX_NAME = 100;

/** What to do with parameters and fields that an operation does not know. */
export type UnknownKeys = Config['unknownKeys'];

/** What a check of one request has found, each place once. */
export class Findings {
  readonly #unknownKeys: UnknownKeys;
  readonly #faults = new Map<string, { message: string; sentence: string }>();
  readonly #ignored: string[] = [];
  #ignoredLength = 0;

  constructor(unknownKeys: UnknownKeys) {
    this.#unknownKeys = unknownKeys;
  }

  /** No further fault would be named: the check can end. */
  get isFull(): boolean {
    return this.#faults.size >= MAX_FAULTS;
  }

  /** Notes a fault; the first one at a place counts. @param sentence - for the message of the whole answer */
  add(path: string, message: string, sentence = `${path} ${message}`): void {
    if (!this.isFull && !this.#faults.has(path)) this.#faults.set(path, { message, sentence });
  }

  /**
   * Notes a parameter or field that the operation does not know.
   *
   * @returns whether it is to be left out of the request rather than refused
   */
  addUnknown(place: string, key: string, describe: () => string): boolean {
    const path = `${place}.${key.slice(0, MAX_NAME)}`;
    if (this.#unknownKeys === 'refuse') {
      if (this.isFull) return false;
      const message = describe();
      this.add(path, message, `${path}: ${message}`);
      return false;
    }
    const name = headerName(path);
    this.#ignoredLength += name.length + 1;
    if (this.#ignoredLength <= MAX_IGNORED) this.#ignored.push(name);
    return true;
  }

  /** What was ignored, for a header: names with commas between them; null for nothing. */
  get ignored(): string | null {
    return this.#ignored.length === 0 ? null : this.#ignored.join(',');
  }

  /** InvalidParameter naming every fault; null where there is none. */
  get refusal(): DomainError | null {
    if (this.#faults.size === 0) return null;
    const details: ErrorDetail[] = [...this.#faults].map(([path, { message }]) => ({ path, message }));
    const sentences = [...this.#faults.values()].map(({ sentence }) => sentence);
    return new DomainError('InvalidParameter', sentences.join('; '), { details });
  }
}

/** Letters, digits and marks that mean nothing in a header; all else percent-encoded. */
function headerName(path: string): string {
  return path
    .toWellFormed()
    .replace(/[^A-Za-z0-9_.~-]/gu, (character) =>
      [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
    );
}
