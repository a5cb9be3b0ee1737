import { ACTIVITY_STATUSES, type ActivityStatus } from '../activities/status.ts';
import { DomainError } from '../common/errors.ts';
import { parseInstant } from '../common/instant.ts';
import { type ComputerQuery, parseComputerQuery } from './computer-query.ts';
import { parseQuery, type Query, type QueryLanguage, type SelectorValue } from './parser.ts';
import { readId } from './values.ts';

/** @see docs/api-conventions.md#activity-selectors */
export type ActivityCriterion =
  | { kind: 'keyword' | 'type' | 'creator'; text: string }
  | { kind: 'id' | 'parent-id'; id: number }
  | { kind: 'status'; status: ActivityStatus }
  | { kind: 'created-after' | 'created-before'; moment: Date }
  /** An operation's computer, or any computer of a group. */
  | { kind: 'computer'; query: ComputerQuery };

export type ActivityQuery = Query<ActivityCriterion>;

/** Alternative spellings, as used by other lists. @see docs/api-conventions.md#activity-statuses */
const STATUS_ALIASES: Readonly<Record<string, ActivityStatus>> = {
  'in-progress': 'delivered',
  complete: 'succeeded',
  queued: 'undelivered',
};

const PERIOD = /^\d{4}-\d\d(-\d\d(T\d\d:\d\d)?)?$/;
const MONTH_LENGTH = '2026-05'.length;

/** Unknown saved searches are detected later. @throws {DomainError} InvalidQueryError */
export function parseActivityQuery(text: string, path?: string): ActivityQuery {
  return parseQuery(text, ACTIVITY_LANGUAGE, path);
}

type Reader = (value: SelectorValue) => ActivityCriterion;

const ACTIVITY_LANGUAGE: QueryLanguage<ActivityCriterion> = {
  keyword: (text) => ({ kind: 'keyword', text }),
  selectors: new Map<string, Reader>([
    ['id', (value) => ({ kind: 'id', id: readId(value) })],
    ['parent-id', (value) => ({ kind: 'parent-id', id: readId(value) })],
    ['status', readStatus],
    ['activity_status', readStatus],
    ['type', ({ text }) => ({ kind: 'type', text })],
    ['creator', ({ text }) => ({ kind: 'creator', text })],
    ['created-after', (value) => ({ kind: 'created-after', moment: readPeriod(value) })],
    ['created-before', (value) => ({ kind: 'created-before', moment: readPeriod(value) })],
    ['computer', readComputers],
  ]),
};

export const ACTIVITY_SELECTORS: readonly string[] = [...ACTIVITY_LANGUAGE.selectors.keys()];

function readStatus(value: SelectorValue): ActivityCriterion {
  const name = Object.hasOwn(STATUS_ALIASES, value.text) ? STATUS_ALIASES[value.text] : value.text;
  const status = ACTIVITY_STATUSES.find((known) => known === name);
  if (!status) throw value.expected(`one of ${[...ACTIVITY_STATUSES, ...Object.keys(STATUS_ALIASES)].join(', ')}`);
  return { kind: 'status', status };
}

function readPeriod(value: SelectorValue): Date {
  const { text } = value;
  const start = PERIOD.test(text) ? parseInstant(text.length === MONTH_LENGTH ? `${text}-01` : text) : null;
  if (start === null) throw value.expected('a month (2026-05), day (2026-05-04) or minute (2026-05-04T10:30)');
  return start;
}

function readComputers(value: SelectorValue): ActivityCriterion {
  try {
    return { kind: 'computer', query: parseComputerQuery(value.query) };
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'InvalidQueryError') throw error;
    throw value.expected(`a query over computers (of it, ${error.details?.[0]?.message})`);
  }
}
