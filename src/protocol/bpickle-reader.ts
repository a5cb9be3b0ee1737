import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { BpickleError } from './bpickle-error.ts';
import { Scanner } from './bpickle-scanner.ts';
import { BFloat, type BObject, BTuple, type BValue, emptyDict } from './values.ts';

interface DecodeLimits {
  /** Levels of nesting. Default 64. */
  maxDepth?: number;
  /** Total values including keys, so that a small input cannot become a huge object. Default 1,000,000. */
  maxValues?: number;
  /** Total dicts, each of which takes some hundred times its bytes. Default 100,000. */
  maxDicts?: number;
  /** Keep byte-string keys as Buffers (the dict then is a Map) instead of converting them to text. Default false. */
  rawKeys?: boolean;
  /** Read halves of surrogate pairs, which are invalid in UTF-8, as replacement characters. Default false. */
  replaceSurrogates?: boolean;
  /** Called with the number of values, and of dicts among them, read since the last call; it may throw. */
  onProgress?: (values: number, dicts: number) => void;
}

const DEFAULTS: Required<DecodeLimits> = {
  maxDepth: 64,
  maxValues: 1_000_000,
  maxDicts: 100_000,
  rawKeys: false,
  replaceSurrogates: false,
  onProgress: () => undefined,
};

const MAX_BYTES = 32 * 1024 * 1024;

const LIST = 0x6c;
const DICT = 0x64;

/**
 * Exactly one value; byte strings are views into `buffer`, the last of equal keys wins. Takes linear time.
 * @throws {BpickleError} on anything else, also invalid UTF-8 @see docs/agent-protocol.md#encoding
 */
export function decode(buffer: Uint8Array, limits: DecodeLimits = {}): BValue {
  if (buffer.length > MAX_BYTES) throw new BpickleError('input too large', 0);
  return new Reader(buffer, { ...DEFAULTS, ...limits }).readWhole();
}

interface PartialDict {
  /** Whole entries; the last one may be a list of its whole items only. */
  value: BValue;
  error: BpickleError | null;
}

/** Of a dict cut off or beyond `limits`; never throws for bad input. Yields to the event loop every few ms. */
export async function decodePartialDict(buffer: Uint8Array, limits: DecodeLimits = {}): Promise<PartialDict> {
  const steps = new Reader(buffer, { ...DEFAULTS, ...limits }).readPartialDict();
  for (;;) {
    await yieldToEventLoop();
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
  readonly #scanner: Scanner;
  readonly #limits: Required<DecodeLimits>;
  #valuesLeft: number;
  #dictsLeft: number;
  #stepStart: { valuesLeft: number; offset: number };
  #reported: { valuesLeft: number; dictsLeft: number };

  constructor(bytes: Uint8Array, limits: Required<DecodeLimits>) {
    this.#scanner = new Scanner(bytes);
    this.#limits = limits;
    this.#valuesLeft = limits.maxValues;
    this.#dictsLeft = limits.maxDicts;
    this.#stepStart = { valuesLeft: limits.maxValues, offset: 0 };
    this.#reported = { valuesLeft: limits.maxValues, dictsLeft: limits.maxDicts };
  }

  readWhole(): BValue {
    const value = this.#value(1);
    this.#finish();
    return value;
  }

  *readPartialDict(): Generator<void, PartialDict> {
    const entries = new DictBuilder();
    try {
      if (this.#scanner.next !== DICT) throw this.#scanner.error('not a dict');
      this.#scanner.offset++;
      while (!this.#scanner.readEnd()) yield* this.#topLevelEntry(entries);
      this.#finish();
      return { value: entries.value, error: null };
    } catch (error) {
      if (!(error instanceof BpickleError)) throw error;
      return { value: entries.value, error };
    }
  }

  #finish(): void {
    if (this.#scanner.offset !== this.#scanner.length) throw this.#scanner.error('trailing bytes');
    this.#reportProgress();
  }

  #reportProgress(): void {
    const { valuesLeft, dictsLeft } = this.#reported;
    this.#limits.onProgress(valuesLeft - this.#valuesLeft, dictsLeft - this.#dictsLeft);
    this.#reported = { valuesLeft: this.#valuesLeft, dictsLeft: this.#dictsLeft };
  }

  /** A list becomes part of the dict before its items are read, so that a truncated one keeps them. */
  *#topLevelEntry(entries: DictBuilder): Generator<void, void> {
    const key = this.#key(2);
    if (this.#scanner.next !== LIST) {
      entries.add(key, yield* this.#valueInSteps(2));
      return;
    }
    const items: BValue[] = [];
    entries.add(key, items);
    this.#scanner.offset++;
    while (!this.#scanner.readEnd()) items.push(yield* this.#valueInSteps(3));
  }

  *#valueInSteps(depth: number): Generator<void, BValue> {
    const { valuesLeft, offset } = this.#stepStart;
    if (valuesLeft - this.#valuesLeft > STEP_VALUES || this.#scanner.offset - offset > STEP_BYTES) {
      this.#reportProgress();
      yield;
      this.#stepStart = { valuesLeft: this.#valuesLeft, offset: this.#scanner.offset };
    }
    const type = this.#scanner.next;
    const isContainer = type === LIST || type === DICT;
    if (!isContainer || depth > Math.min(STEPPED_DEPTH, this.#limits.maxDepth)) return this.#value(depth);
    this.#countValue();
    this.#scanner.offset++;
    return type === LIST ? yield* this.#itemsInSteps(depth) : yield* this.#dictInSteps(depth);
  }

  *#itemsInSteps(depth: number): Generator<void, BValue[]> {
    const items: BValue[] = [];
    while (!this.#scanner.readEnd()) items.push(yield* this.#valueInSteps(depth + 1));
    return items;
  }

  *#dictInSteps(depth: number): Generator<void, BValue> {
    const entries = this.#newDict();
    while (!this.#scanner.readEnd()) entries.add(this.#key(depth + 1), yield* this.#valueInSteps(depth + 1));
    return entries.value;
  }

  #value(depth: number): BValue {
    const scanner = this.#scanner;
    if (depth > this.#limits.maxDepth) throw scanner.error('nested too deeply');
    this.#countValue();
    const type = scanner.next;
    if (type === undefined) throw scanner.error('unexpected end');
    scanner.offset++;
    switch (type) {
      case 0x6e:
        return null;
      case 0x62:
        return scanner.readBoolean();
      case 0x69:
        return scanner.readInteger();
      case 0x66:
        return scanner.readFloat();
      case 0x73:
        return scanner.readBytes();
      case 0x75:
        return scanner.readText(this.#limits.replaceSurrogates);
      case LIST:
        return this.#items(depth);
      case 0x74:
        return new BTuple(this.#items(depth));
      case DICT:
        return this.#dict(depth);
      default:
        scanner.offset--;
        throw scanner.error('unknown type');
    }
  }

  #items(depth: number): BValue[] {
    const items: BValue[] = [];
    while (!this.#scanner.readEnd()) items.push(this.#value(depth + 1));
    return items;
  }

  #dict(depth: number): BObject | Map<BValue, BValue> {
    const entries = this.#newDict();
    while (!this.#scanner.readEnd()) entries.add(this.#key(depth + 1), this.#value(depth + 1));
    return entries.value;
  }

  #key(depth: number): BValue {
    const start = this.#scanner.offset;
    const key = this.#value(depth);
    if (key instanceof Uint8Array) return this.#limits.rawKeys ? key : asciiKey(key as Buffer, start);
    const isScalar = typeof key !== 'object' || key === null || key instanceof BTuple || key instanceof BFloat;
    if (!isScalar) throw new BpickleError('a container cannot be a key', start);
    return key;
  }

  #newDict(): DictBuilder {
    if (--this.#dictsLeft < 0) throw new BpickleError('too many dicts', this.#scanner.offset, true);
    return new DictBuilder();
  }

  #countValue(): void {
    if (--this.#valuesLeft < 0) throw new BpickleError('too many values', this.#scanner.offset, true);
  }
}

function asciiKey(key: Buffer, start: number): string {
  for (const byte of key) if (byte > 0x7f) throw new BpickleError('byte-string key is not ASCII', start);
  return key.toString('latin1');
}

class DictBuilder {
  readonly #dict = emptyDict();
  #map: Map<BValue, BValue> | undefined;

  add(key: BValue, value: BValue): void {
    if (this.#map === undefined && typeof key !== 'string') this.#map = new Map(Object.entries(this.#dict));
    if (this.#map) this.#map.set(key, value);
    else this.#dict[key as string] = value;
  }

  get value(): BObject | Map<BValue, BValue> {
    return this.#map ?? this.#dict;
  }
}
