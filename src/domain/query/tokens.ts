import { queryError } from './query-error.ts';

/** One token of a query text. */
export interface Token {
  /** Without the quotes. */
  text: string;
  /** As it was written. */
  source: string;
  /** Index of its first character in the query text. */
  at: number;
  /** Index in `text` and in `source` of the first colon outside quotes; -1 when there is none. */
  colon: number;
  sourceColon: number;
  quoted: boolean;
}

const SPACES = new Set([' ', '\t', '\n', '\r', '\f', '\v']);

/**
 * Cuts a query text into tokens at spaces outside double quotes; a quoted part may stand anywhere in a token.
 * One pass over the text, whatever is in it.
 *
 * @throws {DomainError} InvalidQueryError on a quote without its partner, or U+0000
 * @see api-decisions 8
 */
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
      const part = quotedPart(text, index, path);
      parts.push(part);
      length += part.length;
      index += part.length + 2;
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

function quotedPart(text: string, open: number, path: string): string {
  const close = text.indexOf('"', open + 1);
  if (close < 0) throw queryError(text, open, 'a closing double quote for the one here', path);
  const part = text.slice(open + 1, close);
  const zero = part.indexOf('\0');
  if (zero >= 0) throw queryError(text, open + 1 + zero, 'no U+0000', path);
  return part;
}
