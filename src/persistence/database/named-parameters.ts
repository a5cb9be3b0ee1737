import { LRUCache } from 'lru-cache';

export type Parameters = object;

/** Queries compose texts of any number and of up to some million characters. */
const MAX_CHARS = 4_000_000;

const cache = new LRUCache<string, { text: string; names: readonly string[] }>({
  maxSize: MAX_CHARS,
  sizeCalculation: ({ text }) => text.length,
});

/** `:name` becomes `$1`, `$2`, ... in order of appearance, once per name. Casts (`::int`) and unknown names stay. */
export function positional(text: string, parameters: Parameters): { text: string; values: unknown[] } {
  if (Array.isArray(parameters)) return { text, values: parameters as unknown[] };
  const byName = parameters as Record<string, unknown>;
  let statement = cache.get(text);
  if (statement === undefined) {
    statement = parse(text, byName);
    cache.set(text, statement);
  }
  return { text: statement.text, values: statement.names.map((name) => byName[name]) };
}

function parse(text: string, parameters: object): { text: string; names: string[] } {
  const numbers = new Map<string, number>();
  const replaced = text.replace(/(?<![:\w]):([a-z]\w*)/gi, (found, name: string) => {
    if (!Object.hasOwn(parameters, name)) return found;
    if (!numbers.has(name)) numbers.set(name, numbers.size + 1);
    return `$${numbers.get(name)}`;
  });
  return { text: replaced, names: [...numbers.keys()] };
}
