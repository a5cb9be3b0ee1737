import { parentPort } from 'node:worker_threads';
// A CommonJS package: its named exports are not visible to an import.
import rrule from 'rrule';
import type { Weekday } from '../../domain/schedule/recurrence-rule.ts';
import { isInWeeks } from '../../domain/schedule/week-number.ts';

/** What the thread is asked for. Times are ms since the epoch. */
export interface ExpansionRequest {
  /** A checked rule, without `RRULE:`. */
  rule: string;
  anchor: number;
  /** Dates strictly after this one and before `before`. */
  after: number;
  before: number;
  limit: number;
  /** COUNT counts dates of the rule alone. */
  ruleAlone: boolean;
  /** Only dates in these weeks of the year are of the rule, whatever else the library finds; null: all are. */
  weeks: { numbers: readonly number[]; start: Weekday } | null;
}

export type ExpansionReply = { dates: number[] } | { failure: string };

/**
 * Expands one rule; whoever asks ends the thread when it takes too long. Counts by itself: the anchor is the first of
 * COUNT dates also where it is none of the rule, and where two positions name the same date, the library gives it twice
 * and counts it twice.
 *
 * @see RFC 5545 3.3.10, COUNT
 */
function expand({ rule, anchor, after, before, limit, ruleAlone, weeks }: ExpansionRequest): number[] {
  const { count, ...options } = rrule.RRule.parseString(rule);
  const most = count ?? Number.POSITIVE_INFINITY;
  const dates: number[] = [];
  let last = Number.NEGATIVE_INFINITY;
  let seen = 0;
  const take = (date: Date): boolean => {
    const time = date.getTime();
    if (time === last || (weeks && !isInWeeks(date, weeks.numbers, weeks.start))) return true;
    if (seen === 0 && time !== anchor && !ruleAlone) seen = 1;
    if (seen === most) return false;
    last = time;
    seen += 1;
    if (time > after) dates.push(time);
    return dates.length < limit && seen < most;
  };
  const expanded = new rrule.RRule({ ...options, dtstart: new Date(anchor), tzid: null }, true);
  if (limit > 0) expanded.between(new Date(anchor - 1), new Date(before), false, take);
  return dates;
}

parentPort?.on('message', (request: ExpansionRequest) => {
  let reply: ExpansionReply;
  try {
    reply = { dates: expand(request) };
  } catch (error) {
    reply = { failure: error instanceof Error ? error.message : String(error) };
  }
  parentPort!.postMessage(reply);
});
parentPort?.postMessage('ready');
