const MAX_DEPTH = 32;
/** Above the longest list of any body (100,000), so that a longer one is rejected by the field's own message. */
const MAX_VALUES = 150_000;
const MAX_CONTAINERS = 20_000;
const MAX_KEYS = 20_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OBJECT_START = 0x7b;
const OBJECT_END = 0x7d;
const ARRAY_START = 0x5b;
const ARRAY_END = 0x5d;
const COLON = 0x3a;
const COMMA = 0x2c;
/** Escapes that may encode unstorable text. */
const SUSPICIOUS = /\\u(?:0000|[dD][89a-fA-F])/;

/**
 * Scans JSON text, before it is parsed, for what is not accepted: nesting deeper than 32, too many values, repeated
 * keys in an object, U+0000 or unpaired surrogates in strings. Runs in linear time without recursion.
 * @returns the fault, or null; text that is not JSON may have none
 */
export function findJsonFault(text: string): string | null {
  const stack: Array<Set<string> | null> = [];
  let last = '';
  let [commas, containers, keys] = [0, 0, 0];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      last = text.slice(at + 1, end);
      const fault = faultOf(last);
      if (fault) return fault;
      at = end;
    } else if (code === COMMA) {
      if (++commas >= MAX_VALUES) return `must not hold more than ${MAX_VALUES} values`;
    } else if (code === OBJECT_START || code === ARRAY_START) {
      if (stack.length === MAX_DEPTH) return `must not be nested deeper than ${MAX_DEPTH}`;
      if (++containers > MAX_CONTAINERS) return `must not hold more than ${MAX_CONTAINERS} arrays and objects`;
      stack.push(code === OBJECT_START ? new Set() : null);
    } else if (code === OBJECT_END || code === ARRAY_END) {
      stack.pop();
    } else if (code === COLON) {
      if (++keys > MAX_KEYS) return `must not hold more than ${MAX_KEYS} keys`;
      if (isRepeated(stack.at(-1), last)) return 'must not repeat a key in one object';
    }
  }
  return null;
}

function faultOf(raw: string): string | null {
  const isStorable = raw.isWellFormed() && !raw.includes('\0') && !(SUSPICIOUS.test(raw) && isUnstorable(raw));
  return isStorable ? null : 'must not contain U+0000 or unpaired surrogates';
}

function isUnstorable(raw: string): boolean {
  const text = unescaped(raw);
  return text !== null && (text.includes('\0') || !text.isWellFormed());
}

function isRepeated(keys: Set<string> | null | undefined, raw: string): boolean {
  const key = raw.includes('\\') ? unescaped(raw) : raw;
  if (!keys || key === null) return false;
  if (keys.has(key)) return true;
  keys.add(key);
  return false;
}

function unescaped(raw: string): string | null {
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    return null;
  }
}

function endOfString(text: string, start: number): number {
  for (let from = start + 1; ; ) {
    const quote = text.indexOf('"', from);
    if (quote === -1) return text.length;
    let backslashes = 0;
    while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return quote;
    from = quote + 1;
  }
}
