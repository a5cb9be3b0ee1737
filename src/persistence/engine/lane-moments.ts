import { DAY_MS, HOUR_MS } from '../../domain/common/durations.ts';
import type { Sql } from '../database/sql.ts';

const DAY_SECONDS = 86_400;

/** How long a lane waits for answers. */
export interface Patience {
  /** Days after delivery at which any operation fails. */
  expiryDays: number;
  /** Seconds after delivery at which the first of its operations may fail before that; null when none does. */
  answerSeconds: number | null;
}

/**
 * From when on an operation is waited for: the later of its delivery, by the clock of the gateway, and the moment when
 * its lane was told, by the clock that judges. Nothing changes a delivered operation but its end.
 */
export const waitedFrom = (operation: string) => `greatest(${operation}.delivery_time, ${operation}.modification_time)`;

/** Milliseconds between a delivery and the first moment at which something delivered then may be overdue. */
function shortest({ expiryDays, answerSeconds }: Patience): number {
  return Math.min(expiryDays * DAY_MS, answerSeconds === null ? Number.POSITIVE_INFINITY : answerSeconds * 1000);
}

/**
 * The next moment a lane must look at its rows without news: the first delivery of what is scheduled, then the last
 * one, so that a random window over thousands of rows wakes a lane twice; the oldest expiry.
 *
 * @param again - the lane has just been looked at for such a moment: further expiries are gathered for up to an hour
 */
export async function nextMoment(
  tx: Sql,
  lane: number,
  now: Date,
  patience: Patience,
  again: boolean,
): Promise<Date | null> {
  const [row] = await tx.query<{
    first_overdue: number | null;
    first_due: number | null;
    last_due: number | null;
    some_due: boolean | null;
    delivery_deadline: number | null;
  }>(patience.answerSeconds === null ? MOMENTS : MOMENTS_WITH_LIMITS, [lane, now, patience.expiryDays * DAY_SECONDS]);
  const { first_overdue, first_due, last_due, some_due, delivery_deadline } = row!;
  const gap = again ? Math.min(HOUR_MS, shortest(patience) / 24) : 0;
  const expiry = first_overdue && Math.max(first_overdue, now.getTime() + gap);
  // A deadline may stay in the past while an agent holds the message; then once a second is often enough.
  const deadline = delivery_deadline && Math.max(delivery_deadline, now.getTime() + (again ? 1000 : 0));
  return first([expiry, deadline, some_due ? last_due : first_due]);
}

/** As {@link nextMoment} from what was known and what just changed, without reading rows. */
export function earliest(
  known: Date | null,
  deliveries: ReadonlyArray<number | null>,
  releases: readonly Date[],
  patience: Patience,
): Date | null {
  const expiries = deliveries.map((moment) => moment && moment + shortest(patience));
  return first([known?.getTime() ?? null, ...expiries, ...releases.map((moment) => moment.getTime())]);
}

function first(moments: ReadonlyArray<number | null | undefined>): Date | null {
  let found = Number.POSITIVE_INFINITY;
  for (const moment of moments) if (moment !== null && moment !== undefined && moment < found) found = moment;
  return Number.isFinite(found) ? new Date(Math.ceil(found)) : null;
}

// Milliseconds with their fraction: a moment cut to whole ones would come before what it waits for.
const milliseconds = (moment: string) => `(extract(epoch from ${moment}) * 1000)::float8`;

const firstOverdue = (seconds: string) => `min(${waitedFrom('a')} + make_interval(secs => ${seconds}))`;

const moments = (source: string, seconds: string) => `
  select ${milliseconds(`${firstOverdue(seconds)} filter (where status = 'delivered')`)} as first_overdue,
    ${milliseconds(`min(deliver_at) filter (where status = 'undelivered' and deliver_at > $2)`)} as first_due,
    ${milliseconds(`max(deliver_at) filter (where status = 'undelivered' and deliver_at > $2)`)} as last_due,
    bool_or(status = 'undelivered' and deliver_at <= $2) as some_due,
    ${milliseconds(`min(deliver_before_time) filter (where status = 'undelivered')`)} as delivery_deadline
  from ${source} where a.lane_id = $1 and status in ('undelivered', 'delivered')`;

const MOMENTS = moments('activity a', '$3::float8');
const MOMENTS_WITH_LIMITS = moments(
  'activity a join operation_payload p on p.id = a.payload_id',
  'least($3::float8, p.answer_seconds)',
);
