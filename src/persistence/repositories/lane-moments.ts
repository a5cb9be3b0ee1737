import type { Sql } from '../sql.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

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
  expiryDays: number,
  again: boolean,
): Promise<Date | null> {
  const [row] = await tx.query<{
    oldest_delivery: number | null;
    first_due: number | null;
    last_due: number | null;
    some_due: boolean | null;
    delivery_deadline: number | null;
  }>(MOMENTS, [lane, now]);
  const { oldest_delivery, first_due, last_due, some_due, delivery_deadline } = row!;
  const gap = again ? Math.min(HOUR_MS, (expiryDays * DAY_MS) / 24) : 0;
  const expiry = oldest_delivery && Math.max(oldest_delivery + expiryDays * DAY_MS, now.getTime() + gap);
  // A deadline may stay in the past while an agent holds the message; then once a second is often enough.
  const deadline = delivery_deadline && Math.max(delivery_deadline, now.getTime() + (again ? 1000 : 0));
  return first([expiry, deadline, some_due ? last_due : first_due]);
}

/** As {@link nextMoment} from what was known and what just changed, without reading rows. */
export function earliest(
  known: Date | null,
  deliveries: ReadonlyArray<number | null>,
  releases: readonly Date[],
  expiryDays: number,
): Date | null {
  const expiries = deliveries.map((moment) => moment && moment + expiryDays * DAY_MS);
  return first([known?.getTime() ?? null, ...expiries, ...releases.map((moment) => moment.getTime())]);
}

function first(moments: ReadonlyArray<number | null | undefined>): Date | null {
  let found = Number.POSITIVE_INFINITY;
  for (const moment of moments) if (moment !== null && moment !== undefined && moment < found) found = moment;
  return Number.isFinite(found) ? new Date(Math.ceil(found)) : null;
}

// Milliseconds with their fraction: a moment cut to whole ones would come before what it waits for.
const milliseconds = (moment: string) => `(extract(epoch from ${moment}) * 1000)::float8`;

const MOMENTS = `
  select ${milliseconds(`min(delivery_time) filter (where status = 'delivered')`)} as oldest_delivery,
    ${milliseconds(`min(deliver_at) filter (where status = 'undelivered' and deliver_at > $2)`)} as first_due,
    ${milliseconds(`max(deliver_at) filter (where status = 'undelivered' and deliver_at > $2)`)} as last_due,
    bool_or(status = 'undelivered' and deliver_at <= $2) as some_due,
    ${milliseconds(`min(deliver_before_time) filter (where status = 'undelivered')`)} as delivery_deadline
  from activity where lane_id = $1 and status in ('undelivered', 'delivered')`;
