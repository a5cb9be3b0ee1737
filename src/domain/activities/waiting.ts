import type { ActivityStatus } from './status.ts';

/** What an open operation can wait for. @see docs/api-conventions.md#the-computers-of-an-activity */
const AWAITED = ['approval', 'release', 'time', 'activity', 'step', 'backlog', 'computer', 'answer'] as const;

export type Awaited = (typeof AWAITED)[number];

/**
 * What an operation waits for; null once it has ended.
 *
 * @param step - the operation that must succeed on the computer first
 */
export function awaitedBy(status: ActivityStatus, step: number | null, after: number | null): Awaited | null {
  switch (status) {
    case 'unapproved':
      return 'approval';
    case 'blocked':
      return 'release';
    case 'scheduled':
      return 'time';
    case 'waiting':
      return step !== null ? 'step' : after !== null ? 'activity' : 'backlog';
    case 'undelivered':
      return 'computer';
    case 'delivered':
      return 'answer';
    default:
      return null;
  }
}
