const MAX_DEPTH = 32;
/** Above the longest list of any body (100,000), so that a longer one is rejected by the field's own message. */
const MAX_VALUES = 150_000;
const MAX_CONTAINERS = 20_000;
const MAX_KEYS = 20_000;
const SUSPICIOUS = /\\u(?:0000|[dD][89a-fA-F])/;

/** What express.json accepts, but we do not, such as repeated keys or U+0000; null for none. Linear in time. */
export function findJsonFault(text: string): string | null {
  const stack: Array<Set<string> | null> = [];
  let last = '';
  let [commas, containers, keys] = [0, 0, 0];
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') {
      const end = endOfString(text, at);
      last = text.slice(at + 1, end);
      if (!isStorable(last)) return 'must not contain U+0000 or unpaired surrogates';
      at = end;
    } else if (character === ',') {
      if (++commas >= MAX_VALUES) return `must not hold more than ${MAX_VALUES} values`;
    } else if (character === '{' || character === '[') {
      if (stack.length === MAX_DEPTH) return `must not be nested deeper than ${MAX_DEPTH}`;
      if (++containers > MAX_CONTAINERS) return `must not hold more than ${MAX_CONTAINERS} arrays and objects`;
      stack.push(character === '{' ? new Set() : null);
    } else if (character === '}' || character === ']') {
      stack.pop();
    } else if (character === ':') {
      if (++keys > MAX_KEYS) return `must not hold more than ${MAX_KEYS} keys`;
      const known = stack.at(-1);
      const key = last.includes('\\') ? unescaped(last) : last;
      if (key !== null && known?.has(key)) return 'must not repeat a key in one object';
      if (key !== null) known?.add(key);
    }
  }
  return null;
}

function isStorable(raw: string): boolean {
  const text = (SUSPICIOUS.test(raw) && unescaped(raw)) || raw;
  return text.isWellFormed() && !text.includes('\0');
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
    while (text[quote - 1 - backslashes] === '\\') backslashes++;
    if (backslashes % 2 === 0) return quote;
    from = quote + 1;
  }
}

const SPACE = /[ \t\n\r]*/y;
const PLAIN = /[ !#-[\]-\uffff]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const SCALAR = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/y;
const BAD_STRING = 'a string has a line break, a control character or an unknown escape';

/** The first syntax error, without quoting the text, unlike `JSON.parse`; null for none. Linear in time. */
export function findSyntaxFault(text: string): { line: number; column: number; message: string } | null {
  const closings: Array<']' | '}'> = [];
  let at = 0;
  let expected: 'value' | 'first-value' | 'key' | 'first-key' | 'colon' | 'next' = 'value';
  const match = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const matches = pattern.test(text);
    if (matches) at = pattern.lastIndex;
    return matches;
  };
  const consume = (character: string | undefined): boolean => {
    const isNext = at < text.length && text[at] === character;
    if (isNext) at++;
    return isNext;
  };
  const restOfString = (): boolean => {
    do match(PLAIN);
    while (match(ESCAPE));
    return consume('"');
  };
  const fault = (message: string, atEnd = `it ends where ${message}`) => {
    const lines = text.slice(0, at).split('\n');
    return { line: lines.length, column: lines.at(-1)!.length + 1, message: at === text.length ? atEnd : message };
  };
  const badString = () => fault(BAD_STRING, 'it ends within a string');
  for (;;) {
    match(SPACE);
    const closing = closings.at(-1);
    if (expected === 'next' && !closing) return at === text.length ? null : fault('nothing more is expected');
    if ((expected === 'next' || expected.startsWith('first')) && consume(closing)) {
      closings.pop();
      expected = 'next';
    } else if (expected === 'next') {
      if (!consume(',')) return fault(`a comma or "${closing}" is expected`);
      expected = closing === '}' ? 'key' : 'value';
    } else if (expected === 'key' || expected === 'first-key') {
      if (!consume('"')) return fault('a name in double quotes is expected');
      if (!restOfString()) return badString();
      expected = 'colon';
    } else if (expected === 'colon') {
      if (!consume(':')) return fault('a colon is expected');
      expected = 'value';
    } else if (consume('{')) {
      closings.push('}');
      expected = 'first-key';
    } else if (consume('[')) {
      closings.push(']');
      expected = 'first-value';
    } else {
      const isString = consume('"');
      if (isString && !restOfString()) return badString();
      if (!isString && !match(SCALAR)) return fault('a value is expected');
      expected = 'next';
    }
  }
}
