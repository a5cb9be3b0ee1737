import type { Json } from '../../domain/agents/facts.ts';
import { BFloat, BTuple, type BValue } from '../../protocol/bpickle.ts';
import { MalformedMessage, sanitizeText } from './fields.ts';

const MAX_DEPTH = 64;

/** @returns undefined if the text is not JSON @throws {MalformedMessage} if it is nested too deeply */
export function parseJson(text: string): Json | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return storableJson(value, 0);
}

/** Converts a protocol value to JSON: byte strings to UTF-8 text, tuples to lists, keys to text. */
export function toJson(value: BValue, depth = 0): Json {
  if (depth > MAX_DEPTH) throw new MalformedMessage('nested too deeply');
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'string') return sanitizeText(value);
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof BFloat) return Number.isFinite(value.value) ? value.value : null;
  if (value instanceof Uint8Array) return sanitizeText(Buffer.from(value).toString('utf8'));
  if (value instanceof BTuple) return value.items.map((item) => toJson(item, depth + 1));
  if (Array.isArray(value)) return value.map((item) => toJson(item, depth + 1));
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  return Object.fromEntries(entries.map(([key, item]) => [String(toJson(key, depth + 1)), toJson(item, depth + 1)]));
}

function storableJson(value: unknown, depth: number): Json {
  if (depth > MAX_DEPTH) throw new MalformedMessage('nested too deeply');
  if (typeof value === 'string') return sanitizeText(value);
  if (Array.isArray(value)) return value.map((item) => storableJson(item, depth + 1));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [sanitizeText(key), storableJson(item, depth + 1)]),
    );
  }
  // 1e999 parses to Infinity, which JSON cannot represent.
  return typeof value === 'number' && !Number.isFinite(value) ? null : (value as Json);
}

export function isJsonObject(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
