import { LRUCache } from 'lru-cache';

export type Parameters = object;

const cache = new LRUCache<string, { text: string; names: readonly string[] }>({ max: 2000 });

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
  const names: string[] = [];
  const replaced = text.replace(/(?<![:\w]):([a-z]\w*)/gi, (found, name: string) => {
    if (!Object.hasOwn(parameters, name)) return found;
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  return { text: replaced, names };
}
