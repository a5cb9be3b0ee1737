import { DomainError } from '../../../domain/common/errors.ts';
import { wallClockAt } from '../../../domain/common/time-zone.ts';
import { nextZonedDates } from '../../../domain/schedules/zoned-dates.ts';
import { isCronProblem, parseCron } from '../../../domain/schedules/cron.ts';
import { hasRunOnce, POST_ENROLLMENT, type Trigger, type TriggerState } from '../../../domain/scripts/trigger.ts';
import type { ScriptProfileRow } from '../../../persistence/scripts/script-profiles.sql.ts';
import { fieldError, fieldErrors } from '../../common/fields.ts';
import { firstDateAfter, nextCronDate, zonedCalendars } from '../../schedules/cron-dates.ts';
import { readScheduleMoment } from '../../schedules/recurring-dates.ts';
import type { TriggerRequest } from './model.ts';

const FIELD = 'body.trigger';
const CHECKED_RUNS = 100;

/** `before` supplies absent parts. @throws {DomainError} InvalidParameter; IntervalTooShort within 100 runs */
export function readTrigger(
  request: TriggerRequest,
  before: Trigger | null,
  at: { now: Date; timezone: string; minIntervalMinutes: number },
): Trigger {
  if (Object.values(request).every((part) => part === undefined)) throw fieldError(FIELD, 'must not be empty');
  const type = request.type ?? before?.type;
  rejectOtherFields(request, type);
  switch (type) {
    case 'event':
      if (request.eventType === POST_ENROLLMENT) return { type: 'event', eventType: POST_ENROLLMENT };
      throw fieldError(`${FIELD}.event_type`, `must be ${POST_ENROLLMENT}`);
    case 'one_time':
      return { type: 'one_time', timestamp: readMoment('timestamp', request.timestamp) };
    case 'recurring': {
      const same = before?.type === 'recurring' ? before : null;
      if (same && request.interval === undefined && request.startAfter === undefined) {
        throw fieldError(FIELD, 'must have start_after or interval');
      }
      const startAfter =
        same && request.startAfter === undefined ? same.startAfter : readMoment('start_after', request.startAfter);
      const interval = readInterval(request.interval ?? same?.interval);
      checkGaps(interval, startAfter, at);
      return { type: 'recurring', startAfter, interval, timezone: at.timezone };
    }
    default:
      throw fieldError(`${FIELD}.trigger_type`, 'must be event, one_time or recurring');
  }
}

const FIELDS = {
  eventType: { type: 'event', name: 'event_type' },
  timestamp: { type: 'one_time', name: 'timestamp' },
  startAfter: { type: 'recurring', name: 'start_after' },
  interval: { type: 'recurring', name: 'interval' },
} as const;

/** A field of another type would be ignored, and the client may have meant that type. */
function rejectOtherFields(request: TriggerRequest, type: string | undefined): void {
  const given = (Object.keys(FIELDS) as Array<keyof typeof FIELDS>).filter((key) => request[key] !== undefined);
  const others = given.map((key) => FIELDS[key]).filter((field) => field.type !== type);
  const isKnown = Object.values(FIELDS).some((field) => field.type === type);
  if (!isKnown || others.length === 0) return;
  throw fieldErrors(
    others.map(({ name, type: own }) => ({ path: `${FIELD}.${name}`, message: `is for trigger_type ${own} only` })),
  );
}

/** The source of `last_run`, `next_run` and `is_finished`. @see docs/api-conventions.md#triggers-and-runs */
export function triggerState(
  profile: Pick<ScriptProfileRow, 'trigger' | 'last_run' | 'due_at' | 'archived'>,
  now: Date,
): TriggerState {
  const { trigger, last_run: lastRun, due_at: due, archived } = profile;
  const isFinished = hasRunOnce(profile);
  return { lastRun, nextRun: archived || isFinished || due === null ? null : nextRun(trigger, due, now), isFinished };
}

function nextRun(trigger: Trigger, due: Date, now: Date): Date | null {
  return trigger.type !== 'recurring' || due > now ? due : nextCronDate(trigger, now);
}

function readMoment(name: string, text: string | undefined): Date {
  const path = `${FIELD}.${name}`;
  if (text === undefined) throw fieldError(path, 'is required');
  return readScheduleMoment(path, text);
}

function readInterval(text: string | undefined): string {
  const path = `${FIELD}.interval`;
  if (text === undefined) throw fieldError(path, 'is required');
  const cron = parseCron(text);
  if (isCronProblem(cron)) throw fieldError(path, cron.problem);
  return text.trim();
}

function checkGaps(
  interval: string,
  startAfter: Date,
  { now, timezone, minIntervalMinutes }: { now: Date; timezone: string; minIntervalMinutes: number },
): void {
  const path = `${FIELD}.interval`;
  const { calendars } = zonedCalendars({ interval, timezone });
  // Distances in local time, which clock changes do not shorten.
  const from = wallClockAt(timezone, firstDateAfter(startAfter, now).getTime());
  const dates = nextZonedDates({ calendars, timezone: 'UTC' }, new Date(from), CHECKED_RUNS);
  if (dates.length === 0) throw fieldError(path, 'has no run before the year 2100');
  const shortest = minIntervalMinutes * 60_000;
  if (dates.every((date, i) => i === 0 || date.getTime() - dates[i - 1]!.getTime() >= shortest)) return;
  const message = `must leave ${minIntervalMinutes} minutes between two runs`;
  throw new DomainError('IntervalTooShort', `${path} ${message}`, { details: [{ path, message }] });
}
