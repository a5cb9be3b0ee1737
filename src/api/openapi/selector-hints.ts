import { DomainError } from '../../domain/common/errors.ts';
import { ACTIVITY_SELECTORS, parseActivityQuery } from '../../domain/query/activity-query.ts';
import { COMPUTER_SELECTORS, parseComputerQuery } from '../../domain/query/computer-query.ts';

/** What a query selects: the values of `x-selectors`. */
export type SelectorLanguage = 'computers' | 'activities';

interface Language {
  /** Prefixes of terms, by the parameter name that a client may use instead. */
  readonly prefixes: ReadonlyMap<string, string>;
  parse(query: string): unknown;
}

const prefixed = (names: readonly string[], before = '') => names.map((name) => [name, `${before}${name}:`] as const);

const LANGUAGES: Readonly<Record<SelectorLanguage, Language>> = {
  computers: { prefixes: new Map(prefixed(COMPUTER_SELECTORS)), parse: (query) => parseComputerQuery(query) },
  activities: {
    // Activities are also found by their computers: `computer-id` and `tag` mean terms about these.
    prefixes: new Map([
      ...prefixed(COMPUTER_SELECTORS, 'computer:'),
      ...COMPUTER_SELECTORS.map((name) => [`computer-${name}`, `computer:${name}:`] as const),
      ...prefixed(ACTIVITY_SELECTORS),
    ]),
    parse: (query) => parseActivityQuery(query),
  },
};

/** Longer texts are not repeated in an error message. */
const MAX_TEXT = 200;

export function selectorNames(language: SelectorLanguage): Iterable<string> {
  return LANGUAGES[language].prefixes.keys();
}

/**
 * The query, with the request's own `query`, that a client meant who sent a selector as a parameter: `query=tag:web`.
 * Null when the values are invalid for the selector.
 */
export function suggestedQuery(
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

/** Returns what is wrong with a query, or null. */
export function queryFault(language: SelectorLanguage, query: string): string | null {
  try {
    LANGUAGES[language].parse(query);
    return null;
  } catch (error) {
    if (error instanceof DomainError) return error.details?.[0]?.message ?? error.message;
    throw error;
  }
}

function keepsText(parsed: unknown, value: string): boolean {
  return JSON.stringify(parsed).includes(JSON.stringify(value));
}

function quotedWhereNeeded(value: string): string {
  return /[\s"]/.test(value) ? `"${value.replace(/["\\]/g, '\\$&')}"` : value;
}
