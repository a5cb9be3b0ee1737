import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  BFloat,
  BpickleError,
  BTuple,
  type BValue,
  decode,
  decodePartialDict,
  emptyDict,
  encode,
} from '../../../src/protocol/bpickle.ts';
import { typeListDigest } from '../../../src/protocol/type-digest.ts';
import { fromTypedJson } from '../../support/agents/raw-agent.ts';
import { processorMs } from '../../support/common/process.ts';
import fc from '../../support/common/random.ts';

interface Vector {
  name: string;
  kind: 'encode' | 'decode' | 'error';
  hex: string;
  value?: unknown;
  decoded?: unknown;
  decoded_raw?: unknown;
}

const fixture = new URL('../../fixtures/bpickle-vectors.json', import.meta.url);
const { vectors } = JSON.parse(readFileSync(fixture, 'utf8')) as { vectors: Vector[] };
const ofKind = (kind: Vector['kind']) => vectors.filter((v) => v.kind === kind);

/** The recorded reader shortens these silently; ours rejects them. */
const REJECTED = new Set([
  'trailing bytes ignored',
  'short byte string is silently truncated',
  'short text is silently truncated',
]);

describe('bpickle vectors', () => {
  it('has them all', () => {
    expect(vectors).toHaveLength(96);
  });

  it.each(ofKind('encode'))('writes $name', ({ hex, value }) => {
    expect(encode(fromTypedJson(value)).toString('hex')).toBe(hex);
  });

  it.each(ofKind('encode'))('reads $name', ({ hex, value, decoded_raw }) => {
    const raw = decode(Buffer.from(hex, 'hex'), { rawKeys: true });
    expect(raw).toEqual(fromTypedJson(decoded_raw ?? value));
    expect(encode(raw).toString('hex')).toBe(hex);
  });

  it.each(ofKind('decode').filter((v) => !REJECTED.has(v.name)))('reads $name', ({ hex, decoded }) => {
    expect(decode(Buffer.from(hex, 'hex'))).toEqual(fromTypedJson(decoded));
  });

  it.each([...ofKind('error'), ...ofKind('decode').filter((v) => REJECTED.has(v.name))])('rejects $name', ({ hex }) => {
    expect(() => decode(Buffer.from(hex, 'hex'))).toThrow(BpickleError);
  });
});

describe('encode and decode', () => {
  it('give back what they were given', () => {
    fc.assert(
      fc.property(anyValue(), (value) => {
        const bytes = encode(value);
        const back = decode(bytes);
        expect(back).toEqual(value);
        expect(encode(back).equals(bytes)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('keep a key named __proto__ an ordinary key', () => {
    const value = decode(Buffer.from('du9:__proto__du5:admini1;;;')) as Record<string, BValue>;
    expect(Object.keys(value)).toEqual(['__proto__']);
    expect(({} as Record<string, unknown>)['admin']).toBeUndefined();
    expect(encode(value).toString()).toBe('du9:__proto__du5:admini1;;;');
  });

  it('reject values that have no encoding', () => {
    for (const value of [1.5, Number.NaN, 2 ** 53, undefined, Symbol('x')]) {
      expect(() => encode(value as BValue)).toThrow(BpickleError);
    }
  });

  it('read surrogates in UTF-8 as replacement characters where that is wanted', () => {
    const read = (hex: string) => decode(Buffer.from(hex, 'hex'), { replaceSurrogates: true });
    expect(read('75353a61eda0807a')).toBe('a\ufffdz');
    expect(read('75333aefbfbd')).toBe('\ufffd');
    expect(() => read('75343aeda080ff')).toThrow('invalid UTF-8');
  });

  it('write text with lone surrogates as replacement characters', () => {
    expect(decode(encode('a\ud800b'))).toBe('a\ufffdb');
  });
});

describe('decode of hostile input', () => {
  const bombs: [string, Buffer][] = [
    ['lists nested 100,000 deep', Buffer.from('l'.repeat(100_000))],
    ['dict keys nested 100,000 deep', Buffer.from('d'.repeat(100_000))],
    ['tuples in keys', Buffer.from('dt'.repeat(50_000))],
    ['a length prefix of 2^31', Buffer.from('s2147483648:x')],
    ['a length prefix with 10,000 digits', Buffer.from(`s${'9'.repeat(10_000)}:x`)],
    ['an integer with 10,000,000 digits', Buffer.from(`i${'9'.repeat(10_000_000)};`)],
    ['a float with 1,000,000 digits', Buffer.from(`f${'9'.repeat(1_000_000)};`)],
    ['32 MiB of empty dicts', Buffer.from(`l${'d;'.repeat(16 * 1024 * 1024 - 1)}`)],
    ['10 MiB of nulls without an end', Buffer.from(`l${'n'.repeat(10 * 1024 * 1024)}`)],
    ['more than 32 MiB', Buffer.alloc(32 * 1024 * 1024 + 1, 'n')],
    ['a list as key', Buffer.from('dl;i1;;')],
    ['a stray terminator', Buffer.from(';')],
    ['an underscore in a number', Buffer.from('i1_0;')],
    ['an overlong form in UTF-8', Buffer.from('75323ac080', 'hex')],
    ['a surrogate in UTF-8', Buffer.from('75333aeda080', 'hex')],
  ];

  it.each(bombs)('rejects %s within bounded time', async (_name, bytes) => {
    expect(await processorMs(() => expect(() => decode(bytes)).toThrow(BpickleError))).toBeLessThan(2000);
  });

  it('never fails in any other way on random and mutated bytes', () => {
    const sample = encode(fromTypedJson(vectors.find((v) => v.name === 'payload client first')!.value));
    const mutated = fc.tuple(fc.nat(sample.length - 1), fc.nat(255)).map(([at, byte]) => {
      const copy = Buffer.from(sample);
      copy[at] = byte;
      return copy;
    });
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 200 }), mutated), (bytes) => {
        try {
          encode(decode(bytes));
        } catch (error) {
          expect(error).toBeInstanceOf(BpickleError);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('accepts nesting and sizes up to the limit and none beyond', () => {
    const nested = (levels: number) => Buffer.from('l'.repeat(levels) + ';'.repeat(levels));
    expect(() => decode(nested(64))).not.toThrow();
    expect(() => decode(nested(65))).toThrow('nested too deeply');
    expect(() => decode(Buffer.from('lnnn;'), { maxValues: 4 })).not.toThrow();
    expect(() => decode(Buffer.from('lnnnn;'), { maxValues: 4 })).toThrow('too many values');
    expect(() => decode(Buffer.from('ld;d;;'), { maxDicts: 2 })).not.toThrow();
    expect(() => decode(Buffer.from('ld;d;d;;'), { maxDicts: 2 })).toThrow('too many dicts');
  });
});

describe('typeListDigest', () => {
  it('is the one agents compute', () => {
    expect(typeListDigest([]).toString('hex')).toBe('d41d8cd98f00b204e9800998ecf8427e');
    expect(typeListDigest(['register']).toString('hex')).toBe('9de4a97425678c5b1288aa70c1669a64');
  });

  it('does not depend on the order', () => {
    expect(typeListDigest(['b', 'a'])).toEqual(typeListDigest(['a', 'b']));
  });
});

function anyValue(): fc.Arbitrary<BValue> {
  const text = fc.string({ unit: 'binary' });
  const { value } = fc.letrec<{ value: BValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      fc.constant(null),
      fc.boolean(),
      fc.maxSafeInteger().map((n) => n + 0),
      fc.bigInt({ min: 2n ** 53n, max: 2n ** 80n }),
      fc.double().map((n) => new BFloat(n)),
      text,
      fc.uint8Array().map((bytes) => Buffer.from(bytes)),
      fc.array(tie('value'), { maxLength: 5 }),
      fc.array(tie('value'), { maxLength: 5 }).map((items) => new BTuple(items)),
      fc.array(fc.tuple(fc.oneof(text, fc.constant('__proto__')), tie('value')), { maxLength: 5 }).map((entries) => {
        const dict = emptyDict();
        for (const [key, item] of entries) dict[key] = item;
        return dict;
      }),
    ),
  }));
  return value;
}

describe('decodePartialDict', () => {
  it.each(vectors)('gives what decode gives for a dict with $name', async ({ hex }) => {
    const bytes = Buffer.concat([Buffer.from('du1:k'), Buffer.from(hex, 'hex'), Buffer.from(';')]);
    for (const limits of [{}, { rawKeys: true }, { maxDepth: 2 }]) {
      const { value, error } = await decodePartialDict(bytes, limits);
      if (error) expect(() => decode(bytes, limits)).toThrow(BpickleError);
      else expect(value).toEqual(decode(bytes, limits));
    }
  });

  it('yields to the event loop while it reads many values', async () => {
    const message = { type: 'packages', installed: Array.from({ length: 100_000 }, (_, n) => n + 1) };
    const bytes = encode({ messages: [message, message] });
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    const { value } = await decodePartialDict(bytes);
    clearInterval(timer);
    expect(value).toEqual({ messages: [message, message] });
    expect(turns).toBeGreaterThan(2);
  });
});
