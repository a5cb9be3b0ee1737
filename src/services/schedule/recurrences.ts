import { DAY_MS } from '../../domain/durations.ts';
import { DomainError } from '../../domain/errors.ts';
import { isAtYearEnd, type RecurrenceRule, WEEKDAYS } from '../../domain/schedule/recurrence-rule.ts';
import { createAskedThread } from '../asked-thread.ts';
import type { Recurrences } from '../ports.ts';
import type { ExpansionReply, ExpansionRequest } from './occurrence-thread.ts';

/** Rules of every kind take some milliseconds; what takes longer searches for a date that never comes. */
const LIMIT_MS = 500;
/** Expansions that wait for their turn; beyond it is refused, not queued. */
const MAX_WAITING = 1_000;

/**
 * Expansion by the rrule library in a thread of its own, which is ended when it takes too long: the library never
 * comes back from some legal rules.
 *
 * @param limitMs - for one expansion, without the start of the thread
 * @remarks The thread starts with the first expansion and keeps no process alive. Expansions take turns.
 * @see mission-and-ecosystem 3.3
 */
export function createRecurrences(limitMs = LIMIT_MS): Recurrences {
  const thread = createAskedThread<ExpansionRequest, ExpansionReply>({
    module: new URL('./occurrence-thread.ts', import.meta.url),
    memoryMb: 64,
    limitMs,
    purpose: 'expands schedules',
  });
  let waiting = 0;
  return {
    async expand(rule, query) {
      if (waiting >= MAX_WAITING) {
        throw new DomainError('ServiceUnavailable', 'Too many schedules are being read; try again shortly', {
          retryAfterSeconds: 5,
        });
      }
      waiting += 1;
      try {
        const reply = await thread.ask(toRequest(rule, query));
        if (reply === null) return 'too-long';
        if ('failure' in reply) throw new Error(`the rule cannot be expanded: ${reply.failure}`);
        return reply.dates.map((date) => new Date(date));
      } finally {
        waiting -= 1;
      }
    },
  };
}

function toRequest(rule: RecurrenceRule, query: Parameters<Recurrences['expand']>[1]): ExpansionRequest {
  return {
    rule: libraryText(rule, query.anchor),
    anchor: nearestAnchor(rule, query.anchor.getTime(), query.after.getTime()),
    after: query.after.getTime(),
    before: query.before.getTime(),
    limit: query.limit,
    ruleAlone: query.ruleAlone ?? false,
    weeks: isAtYearEnd(rule) ? { numbers: rule.lists['BYWEEKNO']!.map(Number), start: weekStart(rule) } : null,
  };
}

function weekStart({ text }: RecurrenceRule) {
  return WEEKDAYS.find((day) => text.includes(`WKST=${day}`)) ?? 'MO';
}

/**
 * Where an expansion may begin instead of at the anchor. Of a rule of days only the anchor's time of day and its place
 * among the intervals matter, unless dates are counted.
 */
function nearestAnchor({ frequency, interval, count }: RecurrenceRule, anchor: number, after: number): number {
  if (frequency !== 'DAILY' || count !== null || after < anchor) return anchor;
  const step = interval * DAY_MS;
  return anchor + Math.floor((after - anchor) / step) * step;
}

const DAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'];

/**
 * The rule as the library has to be told it, where it departs from RFC 5545: a week number alone means the anchor's
 * weekday in it, not all seven days; weekdays with and without a number in one list add to each other, so those
 * without are given all numbers. For days whose week is the last of the year before or the first of the year after, it
 * asks the wrong year how many weeks that has, or does not ask: it is told all weeks that they may be in, and what it
 * finds is judged by {@link ExpansionRequest.weeks}.
 *
 * Days of the month are looked for month by month, which finds rare ones sooner than day by day.
 */
function libraryText(rule: RecurrenceRule, anchor: Date): string {
  const { lists, frequency, interval } = rule;
  if (frequency === 'DAILY' && interval === 1 && lists['BYMONTHDAY'] && !lists['BYSETPOS']) {
    return rule.text.replace('FREQ=DAILY', 'FREQ=MONTHLY');
  }
  const text = isAtYearEnd(rule) ? rule.text.replace(/BYWEEKNO=[^;]*/, '$&,1,52,53') : rule.text;
  const alone = lists['BYWEEKNO'] && !['BYDAY', 'BYMONTHDAY', 'BYYEARDAY'].some((name) => lists[name]);
  if (alone) return `${text};BYDAY=${DAYS[anchor.getUTCDay()]}`;
  const days = lists['BYDAY'] ?? [];
  const isMixed = days.some((day) => day.length > 2) && days.some((day) => day.length === 2);
  if (!isMixed) return text;
  const most = frequency === 'YEARLY' && !lists['BYMONTH'] ? 53 : 5;
  const numbered = days.flatMap((day) =>
    day.length > 2 ? [day] : Array.from({ length: most }, (_, n) => `${n + 1}${day}`),
  );
  return text.replace(/BYDAY=[^;]*/, `BYDAY=${numbered.join(',')}`);
}
