import { DAY_MS, HOUR_MS, SECOND_MS } from '../../domain/common/durations.ts';
import { NO_RESULT } from '../../domain/scripts/result.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import {
  type Change,
  failWithoutResult,
  failWithoutResultInTime,
  failUndelivered,
  readDueTimes,
} from '../../persistence/engine/operations.sql.ts';

interface TimeLimits {
  /** Days after delivery until operations without a result fail. */
  expiryDays: number;
  /** Shortest time limit of an operation, in seconds after delivery; null for none. */
  answerSeconds: number | null;
}

/** Fails operations without a result in time, and those past their last moment of delivery. */
export async function expireOperations(tx: Sql, batch: number, { expiryDays, answerSeconds }: TimeLimits, now: Date) {
  const before = new Date(now.getTime() - expiryDays * DAY_MS);
  const text = `The computer did not answer within ${expiryDays} days of delivery.`;
  const undelivered = 'The computer did not fetch the operation before its last moment for delivery.';
  return [
    ...(await failWithoutResult(tx, batch, now, text, before)),
    ...(answerSeconds === null ? [] : await failWithoutResultInTime(tx, batch, now, NO_RESULT)),
    ...(await failUndelivered(tx, batch, now, undelivered)),
  ];
}

/**
 * When a batch needs processing without an event: the oldest expiry, the first, then the last scheduled delivery (two
 * wake-ups per window). With `isAgain`, just processed so, further expiries are collected for up to an hour.
 */
export async function readNextDueTime(
  tx: Sql,
  batch: number,
  limits: TimeLimits,
  { now, isAgain }: { now: Date; isAgain: boolean },
): Promise<Date | null> {
  const expirySeconds = (limits.expiryDays * DAY_MS) / SECOND_MS;
  const hasTimeLimits = limits.answerSeconds !== null;
  const due = await readDueTimes(tx, batch, { now, expirySeconds, hasTimeLimits });
  const gap = isAgain ? Math.min(HOUR_MS, shortestMs(limits) / 24) : 0;
  const expiry = due.first_overdue && Math.max(due.first_overdue, now.getTime() + gap);
  // The deadline stays in the past while an agent holds the message; checking once a second is enough.
  const deadline = due.delivery_deadline && Math.max(due.delivery_deadline, now.getTime() + (isAgain ? SECOND_MS : 0));
  return earliest([expiry, deadline, due.some_due ? due.last_due : due.first_due]);
}

/** As {@link readNextDueTime}, computed from known times and new deliveries without reading rows. */
export function dueTimeAfter(known: Date | null, changes: readonly Change[], limits: TimeLimits, now: Date) {
  const delivered = changes.filter(({ to }) => to === 'delivered').flatMap(({ deliveredAt }) => deliveredAt ?? []);
  const expiries = delivered.map((moment) => Math.max(moment, now.getTime()) + shortestMs(limits));
  return earliest([known?.getTime() ?? null, ...expiries]);
}

/** The earliest moment in whole ms; null for none. */
export function earliest(moments: ReadonlyArray<number | null | undefined>): Date | null {
  const known = moments.filter((moment) => moment !== null && moment !== undefined);
  return known.length === 0 ? null : new Date(Math.ceil(Math.min(...known)));
}

function shortestMs({ expiryDays, answerSeconds }: TimeLimits): number {
  return Math.min(expiryDays * DAY_MS, answerSeconds === null ? Number.POSITIVE_INFINITY : answerSeconds * SECOND_MS);
}
