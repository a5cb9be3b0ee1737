const MAX_DEPTH = 32;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OBJECT_START = 0x7b;
const OBJECT_END = 0x7d;
const ARRAY_START = 0x5b;
const ARRAY_END = 0x5d;
const COLON = 0x3a;

/**
 * Looks through JSON text that parses for what is refused all the same: nesting deeper than 32, a key repeated in one
 * object, U+0000 or unpaired surrogates in a string. Linear in time, without recursion.
 *
 * @returns what is wrong, or null
 */
export function findJsonFault(text: string): string | null {
  const stack: Array<Set<string> | null> = [];
  let last = '';
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      last = text.slice(at + 1, end);
      if (last.includes('\\')) last = JSON.parse(text.slice(at, end + 1)) as string;
      if (last.includes('\0') || !last.isWellFormed()) return 'must not contain U+0000 or unpaired surrogates';
      at = end;
    } else if (code === OBJECT_START || code === ARRAY_START) {
      if (stack.length === MAX_DEPTH) return `must not be nested deeper than ${MAX_DEPTH}`;
      stack.push(code === OBJECT_START ? new Set() : null);
    } else if (code === OBJECT_END || code === ARRAY_END) {
      stack.pop();
    } else if (code === COLON) {
      const keys = stack.at(-1);
      if (keys?.has(last)) return 'must not repeat a key in one object';
      keys?.add(last);
    }
  }
  return null;
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}
