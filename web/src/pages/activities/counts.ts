/** How many computers are in which state. */
export interface Counts {
  succeeded: number;
  failed: number;
  canceled: number;
  delivered: number;
  total: number;
}

/** The states of computers that an activity has reached, as bars and areas show them, in their order. */
export const SHOWN_STATES = [
  { name: 'succeeded', tone: 'good' },
  { name: 'failed', tone: 'bad' },
  { name: 'canceled', tone: 'idle' },
  { name: 'delivered', tone: 'busy' },
] as const;

/** Computers that an activity has not reached. */
export function waitingOf({ succeeded, failed, canceled, delivered, total }: Counts): number {
  return Math.max(0, total - succeeded - failed - canceled - delivered);
}

/** Such as "12 succeeded, 2 failed, 5 in progress, 1 to go of 20". */
export function progressText(counts: Counts): string {
  const parts: Array<[number, string]> = [
    [counts.succeeded, 'succeeded'],
    [counts.failed, 'failed'],
    [counts.canceled, 'canceled'],
    [counts.delivered, 'in progress'],
    [waitingOf(counts), 'to go'],
  ];
  const shown = parts.filter(([count]) => count > 0).map(([count, name]) => `${count.toLocaleString()} ${name}`);
  return `${shown.join(', ')} of ${counts.total.toLocaleString()}`;
}
