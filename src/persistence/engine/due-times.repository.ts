import type { Sql } from '../database/sql.ts';
import { waitedFrom } from './operations.repository.ts';

/** Times that operations of a batch wait for, in ms since the epoch; null for none. */
export interface DueTimes {
  /** Earliest time at which an unanswered operation fails. */
  first_overdue: number | null;
  /** First and last future delivery. */
  first_due: number | null;
  last_due: number | null;
  /** An operation is already due for delivery. */
  some_due: boolean | null;
  /** Earliest delivery deadline. */
  delivery_deadline: number | null;
}

/**
 * Reads the due times of a batch from its operations.
 * @param expirySeconds - time after delivery at which any operation fails
 * @param hasAnswerLimits - some operations may fail before that
 */
export async function readDueTimes(
  tx: Sql,
  batch: number,
  { now, expirySeconds, hasAnswerLimits }: { now: Date; expirySeconds: number; hasAnswerLimits: boolean },
): Promise<DueTimes> {
  const text = hasAnswerLimits ? DUE_TIMES_WITH_LIMITS : DUE_TIMES;
  const [row] = await tx.query<DueTimes>(text, [batch, now, expirySeconds]);
  return row!;
}

// Milliseconds with fraction: a truncated time would be earlier than the event it stands for.
const milliseconds = (moment: string) => `(extract(epoch from ${moment}) * 1000)::float8`;

const firstOverdue = (seconds: string) => `min(${waitedFrom('a')} + make_interval(secs => ${seconds}))`;

const dueTimes = (source: string, seconds: string) => `
  select ${milliseconds(`${firstOverdue(seconds)} filter (where status = 'delivered')`)} as first_overdue,
    ${milliseconds(`min(deliver_at) filter (where status = 'undelivered' and deliver_at > $2)`)} as first_due,
    ${milliseconds(`max(deliver_at) filter (where status = 'undelivered' and deliver_at > $2)`)} as last_due,
    bool_or(status = 'undelivered' and deliver_at <= $2) as some_due,
    ${milliseconds(`min(deliver_before_time) filter (where status = 'undelivered')`)} as delivery_deadline
  from ${source} where a.lane_id = $1 and status in ('undelivered', 'delivered')`;

const DUE_TIMES = dueTimes('activity a', '$3::float8');
const DUE_TIMES_WITH_LIMITS = dueTimes(
  'activity a join operation_payload p on p.id = a.payload_id',
  'least($3::float8, p.answer_seconds)',
);
