import { DomainError } from '../../domain/common/errors.ts';
import { ACTIVITY_SELECTORS, parseActivityQuery } from '../../domain/query/activity-query.ts';
import { COMPUTER_SELECTORS, parseComputerQuery } from '../../domain/query/computer-query.ts';

export type SelectorLanguage = 'computers' | 'activities';

interface Language {
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

const MAX_TEXT = 200;

export function selectorNames(language: SelectorLanguage): Iterable<string> {
  return LANGUAGES[language].prefixes.keys();
}

/** The query meant by a selector sent as a parameter, with the request's own `query`; null when values are invalid. */
export function suggestedQuery(language: SelectorLanguage, selector: string, values: readonly string[], query: string) {
  const { prefixes, parse } = LANGUAGES[language];
  const terms = values.map((value) => `${prefixes.get(selector)}${quotedWhereNeeded(value)}`);
  const text = [...(query === '' ? [] : [query]), ...terms].join(' ');
  if (values.includes('') || text.length > MAX_TEXT) return null;
  try {
    parse(text);
    const areKept = values.every(
      (value, i) => !/["\\]/.test(value) || JSON.stringify(parse(terms[i]!)).includes(JSON.stringify(value)),
    );
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

function quotedWhereNeeded(value: string): string {
  return /[\s"]/.test(value) ? `"${value.replace(/["\\]/g, '\\$&')}"` : value;
}
