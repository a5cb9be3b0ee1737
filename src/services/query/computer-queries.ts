import { DomainError } from '../../domain/common/errors.ts';
import { type ComputerQuery, parseComputerQuery, usesDeprecated } from '../../domain/query/computer-query.ts';
import { MAX_QUERY_TERMS } from '../../domain/query/parser.ts';
import { queryError } from '../../domain/query/query-error.ts';
import type { ComputerSelection, SavedQueries } from '../../persistence/query/computer-conditions.ts';
import { groupsOf } from '../../persistence/query/group-scope.ts';
import { selectComputers } from '../../persistence/computers/computers.sql.ts';
import { findSearchTexts } from '../../persistence/computers/saved-searches.repository.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { quoted, fieldError } from '../common/fields.ts';
import type { Caller, Clock } from '../common/ports.ts';

interface PreparedQuery extends ComputerSelection {
  /** The query or one of its saved searches uses a deprecated spelling. @see docs/api-conventions.md#deprecation */
  deprecated: boolean;
}

/** Texts of saved searches by name, as a client saw them. */
export type SeenSearches = ReadonlyMap<string, string>;

export interface ActingQuery {
  text: string;
  seen: SeenSearches;
}

export interface QueryDeps {
  db: Sql;
  clock: Clock;
}

export const NO_SEEN_SEARCHES: SeenSearches = new Map();

const MAX_TERMS_IN_ALL = 5 * MAX_QUERY_TERMS;

/** @throws {DomainError} InvalidQueryError, SavedSearchChanged @see docs/api-conventions.md#computer-selectors */
export async function prepareComputerQuery(
  { db, clock }: QueryDeps,
  accountId: number,
  text: string,
  path = 'query.query',
  seen: SeenSearches = NO_SEEN_SEARCHES,
): Promise<PreparedQuery> {
  const query = parseComputerQuery(text, path);
  const searches = await readSearches({ db }, accountId, { text, path, seen, parts: [{ query, at: null }] });
  return { query, searches, now: clock.now(), deprecated: [query, ...searches.values()].some(usesDeprecated) };
}

interface ParsedQueries {
  text: string;
  path: string;
  seen: SeenSearches;
  /** `at`: position in the text; null when the query is the whole text. */
  parts: ReadonlyArray<{ query: ComputerQuery; at: number | null }>;
}

/** @throws {DomainError} InvalidQueryError, SavedSearchChanged; InvalidParameter when one seen is not named */
export async function readSearches(
  { db }: Pick<QueryDeps, 'db'>,
  accountId: number,
  { text, path, seen, parts }: ParsedQueries,
): Promise<SavedQueries> {
  const named = parts.flatMap(({ query, at }) =>
    namedSearches(query).map((search) => ({ ...search, at: at ?? search.at })),
  );
  const names = [...new Set(named.map(({ name }) => name))];
  const texts = names.length === 0 ? new Map<string, string>() : await findSearchTexts(db, accountId, names);
  const unknown = named.find(({ name }) => !texts.has(name));
  if (unknown) throw queryError(text, unknown.at, 'the name of a saved search after search:', path);
  requireUnchanged(texts, seen);
  const searches = new Map([...texts].map(([name, search]) => [name, parseComputerQuery(search, path)]));
  const own = parts.reduce((sum, { query }) => sum + countTerms(query), 0);
  const terms = named.reduce((sum, { name }) => sum + countTerms(searches.get(name)!), own);
  if (terms > MAX_TERMS_IN_ALL) {
    throw queryError(text, 0, `not more than ${MAX_TERMS_IN_ALL} terms with those of the saved searches`, path);
  }
  return searches;
}

/** Visible ids, ascending; rights need `requireTargets`. @throws {DomainError} InvalidQueryError, SavedSearchChanged */
export async function resolveComputerQuery(
  deps: QueryDeps,
  caller: Caller,
  { text, seen }: ActingQuery,
  path = 'body.query',
): Promise<number[]> {
  const selection = await prepareComputerQuery(deps, caller.accountId, text, path, seen);
  const groups = caller.groups('ViewComputer');
  return selectComputers(deps.db, { accountId: caller.accountId, groups: groupsOf(groups) }, selection);
}

/** @throws {DomainError} InvalidQueryError when the text is invalid or names a saved search, which could be a cycle */
export function checkSearchText(text: string, path: string): void {
  const [named] = namedSearches(parseComputerQuery(text, path));
  if (named) throw queryError(text, named.at, 'no search: in a saved search', path);
}

function requireUnchanged(texts: ReadonlyMap<string, string>, seen: SeenSearches): void {
  const unnamed = [...seen.keys()].find((name) => !texts.has(name));
  if (unnamed !== undefined) throw fieldError('body.searches', `has ${quoted(unnamed)}, which the query does not name`);
  const details = [...seen]
    .filter(([name, text]) => texts.get(name) !== text.trim())
    .map(([name, text]) => ({
      path: 'body.searches',
      message: `${name} is ${JSON.stringify(texts.get(name))} now, not ${JSON.stringify(text)}`,
    }));
  if (details.length === 0) return;
  throw new DomainError('SavedSearchChanged', `The saved search ${details[0]!.message}`, { details });
}

function namedSearches({ clauses }: ComputerQuery): Array<{ name: string; at: number }> {
  return clauses
    .flat()
    .flatMap(({ criterion, at }) => (criterion.kind === 'search' ? [{ name: criterion.text, at }] : []));
}

function countTerms({ clauses }: ComputerQuery): number {
  return clauses.reduce((sum, factors) => sum + factors.length, 0);
}
