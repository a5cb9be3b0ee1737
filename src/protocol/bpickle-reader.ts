import { isUtf8 } from 'node:buffer';
import { setImmediate as turn } from 'node:timers/promises';
import { BpickleError } from './bpickle-error.ts';
import { DictEntries } from './dict-entries.ts';
import { BFloat, type BObject, BTuple, type BValue } from './values.ts';

/** What the reader refuses beyond malformed bytes. */
export interface DecodeLimits {
  /** Bytes of the whole input. Default 32 MiB. */
  maxBytes?: number;
  /** Levels of nesting. Default 64. */
  maxDepth?: number;
  /** Values in all, keys included, so that a small input cannot become a huge object. Default 1,000,000. */
  maxValues?: number;
  /** Dicts in all, each of which takes some hundred times its bytes. Default 100,000. */
  maxDicts?: number;
  /** Keep byte-string keys as Buffers (the dict then is a Map) instead of turning them into text. Default false. */
  rawKeys?: boolean;
  /** Read halves of surrogate pairs, which no UTF-8 has, as replacement characters instead of refusing them. Default false. */
  replaceSurrogates?: boolean;
  /** Called with how many values, and dicts among them, each step of the reading made; it may throw. Default nothing. */
  onStep?: (values: number, dicts: number) => void;
}

const DEFAULTS: Required<DecodeLimits> = {
  maxBytes: 32 * 1024 * 1024,
  maxDepth: 64,
  maxValues: 1_000_000,
  maxDicts: 100_000,
  rawKeys: false,
  replaceSurrogates: false,
  onStep: () => undefined,
};

/** Parsing digits takes more than linear time; no field of the protocol comes near. */
const MAX_INT_CHARACTERS = 400;
const MAX_FLOAT_CHARACTERS = 64;
const MAX_LENGTH_DIGITS = 10;
const INT = /^[+-]?\d+$/;
const FLOAT = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?$/;

const END = 0x3b;
const COLON = 0x3a;
const ZERO = 0x30;
const NINE = 0x39;
const LIST = 0x6c;
const DICT = 0x64;

/**
 * Reads exactly one value that fills the whole input. Byte strings are views into `buffer`.
 *
 * @throws {BpickleError} on trailing bytes, unknown type bytes, missing terminators, lengths beyond the input, invalid
 *   UTF-8, byte-string keys that are not ASCII, and everything beyond `limits`; in time linear in the input
 * @remarks Keys need no order; of equal keys the last wins, as in the agents.
 * @see docs/agent-protocol.md#encoding
 */
export function decode(buffer: Uint8Array, limits: DecodeLimits = {}): BValue {
  const reader = new Reader(buffer, { ...DEFAULTS, ...limits });
  return reader.whole();
}

/**
 * As {@link decode}; others get their turn every few milliseconds, for inputs that a whole payload of an agent makes.
 *
 * @throws {BpickleError} as {@link decode}
 */
export async function decodeInTurns(buffer: Uint8Array, limits: DecodeLimits = {}): Promise<BValue> {
  const steps = new Reader(buffer, { ...DEFAULTS, ...limits }).wholeInSteps();
  for (;;) {
    await turn();
    const { done, value } = steps.next();
    if (!done) continue;
    await turn();
    return value;
  }
}

/** A dict, or what could be read of its beginning. */
export interface DictStart {
  /** Entries that are whole, and as the last one perhaps a list with those of its items that are. */
  value: BValue;
  /** Why the reading ended before the dict did; null when it did not. */
  error: BpickleError | null;
}

/**
 * As {@link decodeInTurns}, for a dict that may be cut off or have more values than the limits allow. Never throws for
 * what is wrong with the input.
 */
export async function decodeStart(buffer: Uint8Array, limits: DecodeLimits = {}): Promise<DictStart> {
  const steps = new Reader(buffer, { ...DEFAULTS, ...limits }).startInSteps();
  for (;;) {
    await turn();
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Levels that are read in steps: the payload, its messages, their fields, and the lists in those. */
const STEPPED_DEPTH = 4;
/** Values, and bytes, of one step: some milliseconds of work. */
const STEP_VALUES = 20_000;
const STEP_BYTES = 4 * 1024 * 1024;

class Reader {
  readonly #bytes: Buffer;
  readonly #limits: Required<DecodeLimits>;
  #at = 0;
  #left: number;
  #dictsLeft: number;
  /** Where the step under way began. */
  #step = { left: 0, at: 0 };
  /** Values and dicts that were not told of yet. */
  #told = { left: 0, dicts: 0 };

  constructor(bytes: Uint8Array, limits: Required<DecodeLimits>) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#limits = limits;
    this.#left = limits.maxValues;
    this.#dictsLeft = limits.maxDicts;
    this.#told = { left: limits.maxValues, dicts: limits.maxDicts };
  }

  #tell(): void {
    this.#limits.onStep(this.#told.left - this.#left, this.#told.dicts - this.#dictsLeft);
    this.#told = { left: this.#left, dicts: this.#dictsLeft };
  }

  whole(): BValue {
    if (this.#bytes.length > this.#limits.maxBytes) throw new BpickleError('input too large', 0);
    const value = this.#value(1);
    if (this.#at !== this.#bytes.length) throw this.#error('trailing bytes');
    this.#tell();
    return value;
  }

  *wholeInSteps(): Generator<void, BValue> {
    if (this.#bytes.length > this.#limits.maxBytes) throw new BpickleError('input too large', 0);
    this.#step = { left: this.#left, at: 0 };
    const value = yield* this.#valueInSteps(1);
    if (this.#at !== this.#bytes.length) throw this.#error('trailing bytes');
    this.#tell();
    return value;
  }

  *startInSteps(): Generator<void, DictStart> {
    this.#step = { left: this.#left, at: 0 };
    const entries = new DictEntries();
    try {
      if (this.#bytes[this.#at] !== DICT) throw this.#error('not a dict');
      this.#at++;
      while (!this.#closed()) yield* this.#entryInSteps(entries);
      if (this.#at !== this.#bytes.length) throw this.#error('trailing bytes');
      this.#tell();
      return { value: entries.value, error: null };
    } catch (error) {
      if (!(error instanceof BpickleError)) throw error;
      return { value: entries.value, error };
    }
  }

  /** An entry of the outermost dict; a list is there from its first item on. */
  *#entryInSteps(entries: DictEntries): Generator<void, void> {
    const key = this.#key(2);
    if (this.#bytes[this.#at] !== LIST) {
      entries.add(key, yield* this.#valueInSteps(2));
      return;
    }
    const items: BValue[] = [];
    entries.add(key, items);
    this.#at++;
    while (!this.#closed()) items.push(yield* this.#valueInSteps(3));
  }

  *#valueInSteps(depth: number): Generator<void, BValue> {
    if (this.#step.left - this.#left > STEP_VALUES || this.#at - this.#step.at > STEP_BYTES) {
      this.#tell();
      yield;
      this.#step = { left: this.#left, at: this.#at };
    }
    const type = this.#bytes[this.#at];
    if (depth > Math.min(STEPPED_DEPTH, this.#limits.maxDepth) || (type !== LIST && type !== DICT))
      return this.#value(depth);
    if (--this.#left < 0) throw new BpickleError('too many values', this.#at, true);
    this.#at++;
    return type === LIST ? yield* this.#itemsInSteps(depth) : yield* this.#dictInSteps(depth);
  }

  *#itemsInSteps(depth: number): Generator<void, BValue[]> {
    const items: BValue[] = [];
    while (!this.#closed()) items.push(yield* this.#valueInSteps(depth + 1));
    return items;
  }

  *#dictInSteps(depth: number): Generator<void, BValue> {
    const entries = this.#newDict();
    while (!this.#closed()) entries.add(this.#key(depth + 1), yield* this.#valueInSteps(depth + 1));
    return entries.value;
  }

  #value(depth: number): BValue {
    if (depth > this.#limits.maxDepth) throw this.#error('nested too deeply');
    if (--this.#left < 0) throw new BpickleError('too many values', this.#at, true);
    switch (this.#bytes[this.#at++]) {
      case 0x6e:
        return null;
      case 0x62:
        return this.#boolean();
      case 0x69:
        return this.#integer();
      case 0x66:
        return this.#float();
      case 0x73:
        return this.#byteString();
      case 0x75:
        return this.#text();
      case LIST:
        return this.#items(depth);
      case 0x74:
        return new BTuple(this.#items(depth));
      case DICT:
        return this.#dict(depth);
      default:
        this.#at--;
        throw this.#error(this.#at < this.#bytes.length ? 'unknown type' : 'unexpected end');
    }
  }

  #boolean(): boolean {
    const digit = this.#bytes[this.#at];
    if (digit === undefined || digit < ZERO || digit > NINE) throw this.#error('boolean without a digit');
    this.#at++;
    return digit !== ZERO;
  }

  #integer(): number | bigint {
    const text = this.#until(END, MAX_INT_CHARACTERS);
    if (!INT.test(text)) throw this.#error('not an integer');
    const value = Number(text);
    // Adding 0 turns -0 into the integer it stands for.
    return Number.isSafeInteger(value) ? value + 0 : BigInt(text.startsWith('+') ? text.slice(1) : text);
  }

  #float(): BFloat {
    const text = this.#until(END, MAX_FLOAT_CHARACTERS);
    if (FLOAT.test(text)) return new BFloat(Number(text));
    if (text === 'inf' || text === '-inf') return new BFloat(text === 'inf' ? Infinity : -Infinity);
    if (text === 'nan') return new BFloat(Number.NaN);
    throw this.#error('not a float');
  }

  #byteString(): Buffer {
    const end = this.#end();
    const value = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return value;
  }

  #text(): string {
    const start = this.#at;
    const end = this.#end();
    const value = this.#bytes.toString('utf8', this.#at, end);
    // The decoder writes U+FFFD for what it cannot read, so only text that has one needs the slower check.
    if (!value.includes('\ufffd') || isUtf8(this.#bytes.subarray(this.#at, end))) {
      this.#at = end;
      return value;
    }
    const whole = this.#limits.replaceSurrogates ? withoutSurrogates(this.#bytes.subarray(this.#at, end)) : null;
    if (whole === null) throw new BpickleError('invalid UTF-8', start);
    this.#at = end;
    return whole;
  }

  #items(depth: number): BValue[] {
    const items: BValue[] = [];
    while (!this.#closed()) items.push(this.#value(depth + 1));
    return items;
  }

  #dict(depth: number): BObject | Map<BValue, BValue> {
    const entries = this.#newDict();
    while (!this.#closed()) entries.add(this.#key(depth + 1), this.#value(depth + 1));
    return entries.value;
  }

  #newDict(): DictEntries {
    if (--this.#dictsLeft < 0) throw new BpickleError('too many dicts', this.#at, true);
    return new DictEntries();
  }

  #key(depth: number): BValue {
    const start = this.#at;
    const key = this.#value(depth);
    if (key instanceof Uint8Array) return this.#limits.rawKeys ? key : this.#keyText(key as Buffer, start);
    const plain = typeof key !== 'object' || key === null || key instanceof BTuple || key instanceof BFloat;
    if (!plain) throw new BpickleError('a container cannot be a key', start);
    return key;
  }

  #keyText(key: Buffer, start: number): string {
    for (const byte of key) if (byte > 0x7f) throw new BpickleError('byte-string key is not ASCII', start);
    return key.toString('latin1');
  }

  #closed(): boolean {
    const next = this.#bytes[this.#at];
    if (next === undefined) throw this.#error('missing terminator');
    if (next !== END) return false;
    this.#at++;
    return true;
  }

  /** Reads `<length>:` and tells where the string ends; the position is then at its first byte. */
  #end(): number {
    let length = 0;
    const start = this.#at;
    for (;;) {
      const byte = this.#bytes[this.#at];
      if (byte === COLON && this.#at > start) break;
      const digit = byte !== undefined && byte >= ZERO && byte <= NINE;
      if (!digit || this.#at - start >= MAX_LENGTH_DIGITS) throw this.#error('not a length');
      length = length * 10 + (byte - ZERO);
      this.#at++;
    }
    this.#at++;
    if (length > this.#bytes.length - this.#at) throw this.#error('length beyond the input');
    return this.#at + length;
  }

  #until(terminator: number, limit: number): string {
    const stop = Math.min(this.#bytes.length, this.#at + limit + 1);
    for (let end = this.#at; end < stop; end++) {
      if (this.#bytes[end] !== terminator) continue;
      const text = this.#bytes.toString('latin1', this.#at, end);
      this.#at = end + 1;
      return text;
    }
    throw this.#error(stop === this.#bytes.length ? 'missing terminator' : 'number too long');
  }

  #error(message: string): BpickleError {
    return new BpickleError(message, this.#at);
  }
}

/** Halves of surrogate pairs as some encoders write them: ED A0 80 to ED BF BF. */
const SURROGATES = /\xed[\xa0-\xbf][\x80-\xbf]/g;
const REPLACEMENT = '\xef\xbf\xbd';

/** Text with replacement characters for surrogates; null when it is no UTF-8 even then. */
function withoutSurrogates(bytes: Buffer): string | null {
  const replaced = Buffer.from(bytes.toString('latin1').replace(SURROGATES, REPLACEMENT), 'latin1');
  return isUtf8(replaced) ? replaced.toString('utf8') : null;
}
