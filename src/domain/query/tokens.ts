import { queryError } from './query-error.ts';

export interface Token {
  text: string;
  source: string;
  at: number;
  /** Index in `text` and in `source` of the first colon outside quotes; -1 for none. */
  colon: number;
  sourceColon: number;
  quoted: boolean;
}

const SPACES = new Set([' ', '\t', '\n', '\r', '\f', '\v']);

/** Splits at spaces outside double quotes; `\"` and `\\` escape within. @throws {DomainError} InvalidQueryError */
export function tokenize(text: string, path: string): Token[] {
  const tokens: Token[] = [];
  for (let index = 0; index < text.length; ) {
    if (SPACES.has(text[index]!)) {
      index++;
      continue;
    }
    const token = readToken(text, index, path);
    tokens.push(token);
    index += token.source.length;
  }
  return tokens;
}

function readToken(text: string, at: number, path: string): Token {
  const parts: string[] = [];
  const token: Token = { text: '', source: '', at, colon: -1, sourceColon: -1, quoted: false };
  let index = at;
  let length = 0;
  while (index < text.length && !SPACES.has(text[index]!)) {
    const character = text[index]!;
    if (character === '\0') throw queryError(text, index, 'no U+0000', path);
    if (character === '"') {
      const close = closingQuote(text, index);
      if (close < 0) throw queryError(text, index, 'a closing double quote for the one here', path);
      const part = quotedPart(text, index, close, path);
      parts.push(part);
      length += part.length;
      index = close + 1;
      token.quoted = true;
      continue;
    }
    if (character === ':' && token.colon < 0) {
      token.colon = length;
      token.sourceColon = index - at;
    }
    parts.push(character);
    length++;
    index++;
  }
  return { ...token, text: parts.join(''), source: text.slice(at, index) };
}

/** Index of the quote that closes the one at `open`; -1 for none. */
export function closingQuote(text: string, open: number): number {
  for (let index = open + 1; index < text.length; index++) {
    if (text[index] === '"') return index;
    if (isEscape(text, index)) index++;
  }
  return -1;
}

function isEscape(text: string, index: number): boolean {
  return text[index] === '\\' && (text[index + 1] === '"' || text[index + 1] === '\\');
}

function quotedPart(text: string, open: number, close: number, path: string): string {
  const part = text.slice(open + 1, close);
  const zero = part.indexOf('\0');
  if (zero >= 0) throw queryError(text, open + 1 + zero, 'no U+0000', path);
  return part.replace(/\\(["\\])/g, '$1');
}
