import type { DomainError } from '../common/errors.ts';
import { queryError } from './query-error.ts';
import { closingQuote, type Token, tokenize } from './tokens.ts';

/** A conjunction of clauses, each a disjunction of factors. No deeper nesting, so that traversals need no recursion. */
export interface Query<C> {
  clauses: ReadonlyArray<ReadonlyArray<Factor<C>>>;
}

export interface Factor<C> {
  negated: boolean;
  criterion: C;
  /** Index of the term in the query text, for errors that are detected later. */
  at: number;
}

export interface SelectorValue {
  text: string;
  /** As a query of its own: the source text without enclosing quotes. */
  query: string;
  at: number;
  expected(what: string): DomainError;
}

export interface QueryLanguage<C> {
  keyword(text: string): C;
  /** Selectors by name; each parses its value and throws `value.expected(...)` for an invalid one. */
  selectors: ReadonlyMap<string, (value: SelectorValue) => C>;
}

/** @see docs/api-conventions.md#query-language */
const MAX_QUERY_BYTES = 8192;
export const MAX_QUERY_TERMS = 200;

const OPERATORS = new Set(['AND', 'OR', 'NOT']);
const TERM = 'a keyword or a selector';

/** Parses a query in linear time; the empty one matches everything. @throws {DomainError} InvalidQueryError */
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
    // Some clients send a space after the colon.
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
