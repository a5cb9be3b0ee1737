import { BpickleError } from './bpickle-error.ts';
import { BFloat, BTuple, type BValue, compareCodePoints } from './values.ts';

const MAX_DEPTH = 200;
const FIRST_SIZE = 512;

const NONE = 0x6e;
const COLON = 0x3a;
const END = 0x3b;

/**
 * Sorts dict keys by code point; lone surrogates become U+FFFD. @throws {BpickleError} on unsafe integers (use BFloat
 * or a bigint), unsupported values and nesting beyond 200 levels @see docs/agent-protocol.md#encoding
 */
export function encode(value: BValue): Buffer {
  const writer = new Writer();
  writer.write(value, 0);
  return writer.finish();
}

class Writer {
  #buffer = Buffer.allocUnsafe(FIRST_SIZE);
  #length = 0;

  finish(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  write(value: BValue, depth: number): void {
    if (depth > MAX_DEPTH) throw new BpickleError('nested too deeply', -1);
    if (typeof value === 'string') this.#text(value);
    else if (typeof value === 'number') this.#integer(value);
    else if (typeof value === 'boolean') this.#ascii(value ? 'b1' : 'b0');
    else if (typeof value === 'bigint') this.#ascii(`i${value};`);
    else if (value === null) this.#byte(NONE);
    else if (typeof value === 'object') this.#object(value, depth);
    else throw new BpickleError(`no form for ${typeof value}`, -1);
  }

  #object(value: object & BValue, depth: number): void {
    if (value instanceof Uint8Array) this.#bytes(value);
    else if (value instanceof BFloat) this.#ascii(`f${floatText(value.value)};`);
    else if (Array.isArray(value)) this.#sequence('l', value, depth);
    else if (value instanceof BTuple) this.#sequence('t', value.items, depth);
    else if (value instanceof Map)
      this.#entries(
        [...value].sort(([a], [b]) => compareKeys(a, b)),
        depth,
      );
    else
      this.#entries(
        Object.entries(value).sort(([a], [b]) => compareCodePoints(a, b)),
        depth,
      );
  }

  #integer(value: number): void {
    if (!Number.isSafeInteger(value)) throw new BpickleError(`${value} is no safe integer`, -1);
    this.#ascii(`i${value};`);
  }

  #sequence(kind: 'l' | 't', items: readonly BValue[], depth: number): void {
    this.#ascii(kind);
    for (const item of items) this.write(item, depth + 1);
    this.#byte(END);
  }

  #entries(entries: readonly (readonly [BValue, BValue])[], depth: number): void {
    this.#ascii('d');
    for (const [key, value] of entries) {
      this.write(key, depth + 1);
      this.write(value, depth + 1);
    }
    this.#byte(END);
  }

  #text(value: string): void {
    const text = value.isWellFormed() ? value : value.toWellFormed();
    const size = Buffer.byteLength(text);
    this.#ascii(`u${size}`);
    this.#byte(COLON);
    this.#reserve(size);
    this.#length += this.#buffer.write(text, this.#length, size);
  }

  #bytes(value: Uint8Array): void {
    this.#ascii(`s${value.length}`);
    this.#byte(COLON);
    this.#reserve(value.length);
    this.#buffer.set(value, this.#length);
    this.#length += value.length;
  }

  #ascii(text: string): void {
    this.#reserve(text.length);
    this.#length += this.#buffer.write(text, this.#length, text.length, 'latin1');
  }

  #byte(value: number): void {
    this.#reserve(1);
    this.#buffer[this.#length++] = value;
  }

  #reserve(size: number): void {
    const needed = this.#length + size;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}

/** The shortest decimal that round-trips, formatted as by the agents: exponents from 1e16 and below 1e-4. */
function floatText(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (Object.is(value, -0)) return '-0.0';
  const magnitude = Math.abs(value);
  if (magnitude !== 0 && (magnitude >= 1e16 || magnitude < 1e-4)) {
    const [digits, exponent] = value.toExponential().split('e') as [string, string];
    return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, '0')}`;
  }
  const text = String(value);
  return text.includes('.') ? text : `${text}.0`;
}

function compareKeys(a: BValue, b: BValue): number {
  if (typeof a === 'string' && typeof b === 'string') return compareCodePoints(a, b);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b);
  if (a instanceof BTuple && b instanceof BTuple) return compareItems(a.items, b.items);
  const [left, right] = [numberOf(a), numberOf(b)];
  if (left !== null && right !== null) return left < right ? -1 : left > right ? 1 : 0;
  return rank(a) - rank(b);
}

function compareItems(a: readonly BValue[], b: readonly BValue[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const order = compareKeys(a[i]!, b[i]!);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function numberOf(value: BValue): number | bigint | null {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  if (typeof value === 'boolean') return Number(value);
  return value instanceof BFloat ? value.value : null;
}

/** Keys of different kinds have no natural order; any fixed one will do. */
function rank(value: BValue): number {
  if (value === null) return 0;
  if (numberOf(value) !== null) return 1;
  if (value instanceof Uint8Array) return 2;
  return typeof value === 'string' ? 3 : 4;
}
