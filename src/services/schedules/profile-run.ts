import type { EventActor } from '../../domain/events/events.ts';

export interface RunOrder {
  /** The date it was planned for, in whole seconds; null: somebody asked for it, or an event did. */
  nominalTime: Date | null;
  now: Date;
  traceparent?: string | null;
  /** Activity that has to succeed on these computers first; absent or null: none. */
  prior?(computers: readonly number[]): Promise<number | null>;
}

/** `known`: there is a run for that date. `busy`: every computer still has an open run; only the date is taken. */
export type RunOutcome = { activityId: number; computers: number } | 'known' | 'busy';

/** Most missed dates of a kind started in one round of repairs. */
export const MISSED_LIMIT = 500;

/** Who runs and skips by plan, for the event log. */
export function scheduleActor(accountId: number): EventActor {
  return { accountId, personId: null, name: 'Schedule', origin: { address: '', requestId: '' } };
}
