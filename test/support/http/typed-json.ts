import { BFloat, BTuple, type BValue, emptyDict } from '../../../src/protocol/bpickle.ts';

/** Reads the typed JSON of the recorded fixtures into protocol values. See `typed_json` in test/fixtures/bpickle-vectors.json. */
export function fromTypedJson(json: unknown): BValue {
  if (json === null || typeof json === 'boolean' || typeof json === 'number' || typeof json === 'string') return json;
  if (Array.isArray(json)) return json.map(fromTypedJson);
  const object = json as Record<string, unknown>;
  if ('$int' in object) return BigInt(object['$int'] as string);
  if ('$float' in object) return new BFloat(floatOf(object['$float'] as string));
  if ('$bytes' in object) return Buffer.from(object['$bytes'] as string, 'hex');
  if ('$tuple' in object) return new BTuple((object['$tuple'] as unknown[]).map(fromTypedJson));
  if ('$dict' in object) {
    const entries = object['$dict'] as [unknown, unknown][];
    return new Map(entries.map(([key, value]) => [fromTypedJson(key), fromTypedJson(value)]));
  }
  const dict = emptyDict();
  for (const [key, value] of Object.entries(object)) dict[key] = fromTypedJson(value);
  return dict;
}

function floatOf(text: string): number {
  return text.endsWith('inf') ? Number(text.replace('inf', 'Infinity')) : Number(text);
}
