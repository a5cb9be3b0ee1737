import type { DomainError } from '../common/errors.ts';
import { queryError } from './query-error.ts';
import { closingQuote, type Token, tokenize } from './tokens.ts';

/**
 * A parsed query: all clauses hold, a clause holds when one of its factors does. There is no deeper nesting, so
 * nothing that walks it needs recursion.
 */
export interface Query<C> {
  clauses: ReadonlyArray<ReadonlyArray<Factor<C>>>;
}

/** A criterion or its negation. */
export interface Factor<C> {
  negated: boolean;
  criterion: C;
  /** Index of the term in the query text, for refusals that are only found out later. */
  at: number;
}

/** What stands behind the colon of a selector. */
export interface SelectorValue {
  /** Without quotes. */
  text: string;
  /** The value as a query of its own: as it was written, without the quotes that enclose all of it. */
  query: string;
  /** Where the term begins in the query text. */
  at: number;
  /** The refusal of this value. */
  expected(what: string): DomainError;
}

/** What distinguishes one query language from another: its keywords and selectors. */
export interface QueryLanguage<C> {
  keyword(text: string): C;
  /** Selectors by name; each reads its value and throws `value.expected(...)` for one it does not know. */
  selectors: ReadonlyMap<string, (value: SelectorValue) => C>;
}

/** Limits of a query text. @see docs/api-conventions.md#query-language */
export const MAX_QUERY_BYTES = 8192;
export const MAX_QUERY_TERMS = 200;

const OPERATORS = new Set(['AND', 'OR', 'NOT']);
const TERM = 'a keyword or a selector';

/**
 * Reads a query text in linear time. The empty text has no clause and is fulfilled by everything.
 * @param path - where the text stands in the request, for the refusal
 * @throws {DomainError} InvalidQueryError naming the place and what was expected there
 */
export function parseQuery<C>(text: string, language: QueryLanguage<C>, path = 'query.query'): Query<C> {
  if (text.length > MAX_QUERY_BYTES || new TextEncoder().encode(text).length > MAX_QUERY_BYTES) {
    throw queryError(text, 0, `not more than ${MAX_QUERY_BYTES} bytes`, path);
  }
  return new Parser(text, language, path).read();
}

class Parser<C> {
  readonly #text: string;
  readonly #language: QueryLanguage<C>;
  readonly #path: string;
  readonly #tokens: Token[];
  #next = 0;
  #terms = 0;

  constructor(text: string, language: QueryLanguage<C>, path: string) {
    this.#text = text;
    this.#language = language;
    this.#path = path;
    this.#tokens = tokenize(text, path);
  }

  read(): Query<C> {
    const clauses: Array<Array<Factor<C>>> = [];
    while (this.#next < this.#tokens.length) {
      if (clauses.length > 0) this.#skip('AND');
      clauses.push(this.#clause());
    }
    return { clauses };
  }

  #clause(): Array<Factor<C>> {
    const factors = [this.#factor()];
    while (this.#skip('OR')) factors.push(this.#factor());
    return factors;
  }

  #factor(): Factor<C> {
    let negated = false;
    while (this.#skip('NOT')) negated = !negated;
    const token = this.#tokens[this.#next];
    if (!token) throw this.#error(this.#text.length, `${TERM} after ${this.#tokens.at(-1)!.text}`);
    if (isOperator(token)) throw this.#error(token.at, `${TERM} before ${token.text}`);
    if (++this.#terms > MAX_QUERY_TERMS) throw this.#error(token.at, `not more than ${MAX_QUERY_TERMS} terms`);
    this.#next++;
    return { negated, criterion: this.#criterion(token), at: token.at };
  }

  #criterion(token: Token): C {
    if (token.colon < 0) return this.#language.keyword(token.text);
    const name = token.text.slice(0, token.colon);
    const read = this.#language.selectors.get(name);
    if (!read) throw this.#error(token.at, `one of the selectors ${[...this.#language.selectors.keys()].join(', ')}`);
    if (token.sourceColon < token.source.length - 1) {
      const source = token.source.slice(token.sourceColon + 1);
      return read(this.#value(token.at, name, token.text.slice(token.colon + 1), source));
    }
    // A client sends a space behind the colon.
    const following = this.#tokens[this.#next];
    if (!following || isOperator(following)) throw this.#error(token.at, `a value after ${name}:`);
    this.#next++;
    return read(this.#value(token.at, name, following.text, following.source));
  }

  #value(at: number, name: string, text: string, source: string): SelectorValue {
    const enclosed = source.startsWith('"') && closingQuote(source, 0) === source.length - 1;
    const expected = (what: string) => this.#error(at, `${what} after ${name}:`);
    return { text, query: enclosed ? text : source, at, expected };
  }

  #skip(operator: 'AND' | 'OR' | 'NOT'): boolean {
    const token = this.#tokens[this.#next];
    const found = token !== undefined && !token.quoted && token.text === operator;
    if (found) this.#next++;
    return found;
  }

  #error(at: number, expected: string): DomainError {
    return queryError(this.#text, at, expected, this.#path);
  }
}

function isOperator(token: Token): boolean {
  return !token.quoted && OPERATORS.has(token.text);
}
