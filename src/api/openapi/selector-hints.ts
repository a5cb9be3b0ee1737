import { DomainError } from '../../domain/common/errors.ts';
import { ACTIVITY_SELECTORS, parseActivityQuery } from '../../domain/query/activity-query.ts';
import { COMPUTER_SELECTORS, parseComputerQuery } from '../../domain/query/computer-query.ts';

/** Over what a `query` parameter selects, as `x-selectors` of the document says. */
export type SelectorLanguage = 'computers' | 'activities';

interface Language {
  /** How a term begins, by the name under which it may be taken for a parameter. */
  readonly prefixes: ReadonlyMap<string, string>;
  parse(query: string): unknown;
}

const prefixed = (names: readonly string[], before = '') => names.map((name) => [name, `${before}${name}:`] as const);

const LANGUAGES: Readonly<Record<SelectorLanguage, Language>> = {
  computers: { prefixes: new Map(prefixed(COMPUTER_SELECTORS)), parse: (query) => parseComputerQuery(query) },
  activities: {
    // Operations are found by their computers too: `computer-id` and `tag` stand for terms over these.
    prefixes: new Map([
      ...prefixed(COMPUTER_SELECTORS, 'computer:'),
      ...COMPUTER_SELECTORS.map((name) => [`computer-${name}`, `computer:${name}:`] as const),
      ...prefixed(ACTIVITY_SELECTORS),
    ]),
    parse: (query) => parseActivityQuery(query),
  },
};

/** Longer texts are not repeated in an answer. */
const MAX_TEXT = 200;

/** Names of the selectors that a parameter may have been meant to be. */
export function selectorNames(language: SelectorLanguage): Iterable<string> {
  return LANGUAGES[language].prefixes.keys();
}

/**
 * The query that somebody meant who gave a selector as a parameter of its own: `query=tag:web`.
 *
 * @param values - of that parameter
 * @param query - what the request has as `query` already; the selector is added to it
 * @returns null where the values are none of the selector, so that there is no such query
 */
export function meantQuery(
  language: SelectorLanguage,
  selector: string,
  values: readonly string[],
  query: string,
): string | null {
  const { prefixes, parse } = LANGUAGES[language];
  const terms = values.map((value) => `${prefixes.get(selector)}${quotedWhereNeeded(value)}`);
  const text = [...(query === '' ? [] : [query]), ...terms].join(' ');
  if (values.includes('') || text.length > MAX_TEXT) return null;
  try {
    parse(text);
    const areKept = values.every((value, i) => !/["\\]/.test(value) || keepsText(parse(terms[i]!), value));
    return areKept ? `query=${text}` : null;
  } catch (error) {
    if (error instanceof DomainError) return null;
    throw error;
  }
}

/** What is wrong with a query by itself; null when nothing is. */
export function queryFault(language: SelectorLanguage, query: string): string | null {
  try {
    LANGUAGES[language].parse(query);
    return null;
  } catch (error) {
    if (error instanceof DomainError) return error.details?.[0]?.message ?? error.message;
    throw error;
  }
}

/** Whether what was read of a term still holds the text that quotes or backslashes are part of. */
function keepsText(parsed: unknown, value: string): boolean {
  return JSON.stringify(parsed).includes(JSON.stringify(value));
}

/** @returns the value as a term of a query has it */
function quotedWhereNeeded(value: string): string {
  return /[\s"]/.test(value) ? `"${value.replace(/["\\]/g, '\\$&')}"` : value;
}
