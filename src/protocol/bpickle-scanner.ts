import { isUtf8 } from 'node:buffer';
import { BpickleError } from './bpickle-error.ts';
import { BFloat } from './values.ts';

/** Parsing digits takes more than linear time; all fields of the protocol are far shorter. */
const MAX_INT_CHARACTERS = 400;
const MAX_FLOAT_CHARACTERS = 64;
const MAX_LENGTH_DIGITS = 10;
const INT = /^[+-]?\d+$/;
const FLOAT = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?$/;

const END = 0x3b;
const COLON = 0x3a;
const ZERO = 0x30;
const NINE = 0x39;

/** Reads consecutive scalars from a buffer. Every method throws a {@link BpickleError} on malformed bytes. */
export class Scanner {
  readonly #bytes: Buffer;
  offset = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get length(): number {
    return this.#bytes.length;
  }

  get next(): number | undefined {
    return this.#bytes[this.offset];
  }

  /** Creates an error at the current offset, without throwing it. */
  error(message: string): BpickleError {
    return new BpickleError(message, this.offset);
  }

  /** Consumes a terminator. @returns false, consuming nothing, when something else is next */
  readEnd(): boolean {
    const { next } = this;
    if (next === undefined) throw this.error('missing terminator');
    if (next !== END) return false;
    this.offset++;
    return true;
  }

  readBoolean(): boolean {
    const digit = this.next;
    if (digit === undefined || digit < ZERO || digit > NINE) throw this.error('boolean without a digit');
    this.offset++;
    return digit !== ZERO;
  }

  /** A bigint beyond 2^53-1. */
  readInteger(): number | bigint {
    const text = this.#readNumber(MAX_INT_CHARACTERS);
    if (!INT.test(text)) throw this.error('not an integer');
    const value = Number(text);
    // Adding 0 turns -0 into the integer 0.
    return Number.isSafeInteger(value) ? value + 0 : BigInt(text.startsWith('+') ? text.slice(1) : text);
  }

  readFloat(): BFloat {
    const text = this.#readNumber(MAX_FLOAT_CHARACTERS);
    if (FLOAT.test(text)) return new BFloat(Number(text));
    if (text === 'inf' || text === '-inf') return new BFloat(text === 'inf' ? Infinity : -Infinity);
    if (text === 'nan') return new BFloat(Number.NaN);
    throw this.error('not a float');
  }

  /** A view of the scanned bytes, not a copy. */
  readBytes(): Buffer {
    const end = this.#readLength();
    const value = this.#bytes.subarray(this.offset, end);
    this.offset = end;
    return value;
  }

  /** @param replaceSurrogates - accept encoded surrogates, replaced by U+FFFD, which are invalid UTF-8 */
  readText(replaceSurrogates: boolean): string {
    const lengthOffset = this.offset;
    const end = this.#readLength();
    const start = this.offset;
    const value = this.#bytes.toString('utf8', start, end);
    this.offset = end;
    // The decoder writes U+FFFD for invalid bytes, so only text that contains it needs the slower check.
    if (!value.includes('\ufffd')) return value;
    const bytes = this.#bytes.subarray(start, end);
    if (isUtf8(bytes)) return value;
    const replaced = replaceSurrogates ? withoutSurrogates(bytes) : null;
    if (replaced === null) throw new BpickleError('invalid UTF-8', lengthOffset);
    return replaced;
  }

  #readLength(): number {
    let length = 0;
    const start = this.offset;
    for (;;) {
      const byte = this.next;
      if (byte === COLON && this.offset > start) break;
      const isDigit = byte !== undefined && byte >= ZERO && byte <= NINE;
      if (!isDigit || this.offset - start >= MAX_LENGTH_DIGITS) throw this.error('not a length');
      length = length * 10 + (byte - ZERO);
      this.offset++;
    }
    this.offset++;
    if (length > this.#bytes.length - this.offset) throw this.error('length beyond the input');
    return this.offset + length;
  }

  #readNumber(maxCharacters: number): string {
    const stop = Math.min(this.#bytes.length, this.offset + maxCharacters + 1);
    for (let end = this.offset; end < stop; end++) {
      if (this.#bytes[end] !== END) continue;
      const text = this.#bytes.toString('latin1', this.offset, end);
      this.offset = end + 1;
      return text;
    }
    throw this.error(stop === this.#bytes.length ? 'missing terminator' : 'number too long');
  }
}

/** Halves of surrogate pairs as some encoders write them: ED A0 80 to ED BF BF. */
const SURROGATES = /\xed[\xa0-\xbf][\x80-\xbf]/g;
const REPLACEMENT = '\xef\xbf\xbd';

function withoutSurrogates(bytes: Buffer): string | null {
  const replaced = Buffer.from(bytes.toString('latin1').replace(SURROGATES, REPLACEMENT), 'latin1');
  return isUtf8(replaced) ? replaced.toString('utf8') : null;
}
