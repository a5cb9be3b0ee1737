import { DomainError, type ErrorDetail } from '../../../domain/common/errors.ts';
import type { Config } from '../../../process/config.ts';
import { MAX_FIELD_ERRORS } from '../../../services/common/fields.ts';

const MAX_HEADER_CHARACTERS = 4000;
const MAX_NAME = 100;

export type UnknownKeys = Config['unknownKeys'];

export class RequestFaults {
  readonly #unknownKeys: UnknownKeys;
  readonly #faults = new Map<string, { message: string; sentence: string }>();
  readonly #ignored: string[] = [];
  #ignoredLength = 0;

  constructor(unknownKeys: UnknownKeys) {
    this.#unknownKeys = unknownKeys;
  }

  get isFull(): boolean {
    return this.#faults.size >= MAX_FIELD_ERRORS;
  }

  /** The first fault of a path counts. @param sentence - for the message of the whole response */
  add(path: string, message: string, sentence = `${path} ${message}`): void {
    if (!this.isFull && !this.#faults.has(path)) this.#faults.set(path, { message, sentence });
  }

  /** Adds an unknown parameter or field. @returns whether it is ignored, so that the caller removes it */
  addUnknown(parent: string, key: string, describe: () => string): boolean {
    const path = `${parent}.${key.slice(0, MAX_NAME)}`;
    if (this.#unknownKeys === 'refuse') {
      if (this.isFull) return false;
      const message = describe();
      this.add(path, message, `${path}: ${message}`);
      return false;
    }
    const name = headerName(path);
    this.#ignoredLength += name.length + 1;
    if (this.#ignoredLength <= MAX_HEADER_CHARACTERS) this.#ignored.push(name);
    return true;
  }

  /** Ignored names, separated by commas, for a header; null for none. */
  get ignored(): string | null {
    return this.#ignored.length === 0 ? null : this.#ignored.join(',');
  }

  get error(): DomainError | null {
    if (this.#faults.size === 0) return null;
    const details: ErrorDetail[] = [...this.#faults].map(([path, { message }]) => ({ path, message }));
    const sentences = [...this.#faults.values()].map(({ sentence }) => sentence);
    return new DomainError('InvalidParameter', sentences.join('; '), { details });
  }
}

function headerName(path: string): string {
  return path
    .toWellFormed()
    .replace(/[^A-Za-z0-9_.~-]/gu, (character) =>
      [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
    );
}
