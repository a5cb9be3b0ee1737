export type StateTone = 'good' | 'bad' | 'warn' | 'busy' | 'idle';

/** The shape of each tone, so that no state depends on its colour alone. */
const SHAPES: Record<StateTone, string> = {
  good: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2Zm-.8 8.7L4.6 8.1l1-1 1.6 1.6 3.2-3.3 1 1z',
  bad: 'M8 1 15 8 8 15 1 8ZM5.7 6.6 7.1 8 5.7 9.4l.9.9L8 8.9l1.4 1.4.9-.9L8.9 8l1.4-1.4-.9-.9L8 7.1 6.6 5.7z',
  warn: 'M8 1.5 15 14H1ZM7.3 6v4h1.4V6ZM7.3 11v1.4h1.4V11z',
  busy: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2Zm0 1.5v9a4.5 4.5 0 0 1 0-9z',
  idle: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2Zm0 1.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9z',
};

/** A state by colour and shape, with its name as text. */
export function StateMark({ tone, children, hideText }: { tone: StateTone; children: string; hideText?: boolean }) {
  return (
    <span className="state" title={hideText ? children : undefined}>
      <svg viewBox="0 0 16 16" aria-hidden="true" className={`state-shape tone-${tone}`}>
        <path fillRule="evenodd" d={SHAPES[tone]} />
      </svg>
      <span className={hideText ? 'visually-hidden' : undefined}>{children}</span>
    </span>
  );
}

/** What administrators call the status of an activity, and how it looks. */
export const ACTIVITY_STATES: Record<string, { tone: StateTone; label: string }> = {
  unapproved: { tone: 'warn', label: 'Needs approval' },
  blocked: { tone: 'warn', label: 'Blocked' },
  waiting: { tone: 'idle', label: 'Waiting' },
  scheduled: { tone: 'idle', label: 'Scheduled' },
  undelivered: { tone: 'idle', label: 'Queued' },
  delivered: { tone: 'busy', label: 'In progress' },
  succeeded: { tone: 'good', label: 'Succeeded' },
  failed: { tone: 'bad', label: 'Failed' },
  canceled: { tone: 'idle', label: 'Canceled' },
};

/** The status of an activity. */
export function ActivityState({ status, hideText }: { status: string | null; hideText?: boolean }) {
  const { tone, label } = ACTIVITY_STATES[status ?? ''] ?? { tone: 'idle' as const, label: status ?? 'Unknown' };
  return (
    <StateMark tone={tone} hideText={hideText}>
      {label}
    </StateMark>
  );
}
