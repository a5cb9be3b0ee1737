import { StateMark, type StateTone } from '../../ui/state-mark.tsx';
import type { Alert } from './alert-kinds.ts';

const SEVERITIES: Record<Alert['severity'], { tone: StateTone; label: string }> = {
  danger: { tone: 'bad', label: 'Critical' },
  warning: { tone: 'warn', label: 'Warning' },
  info: { tone: 'idle', label: 'Notice' },
};

/** An active alert by its severity; others by their status. */
export function AlertState({ alert: { status, severity }, hideText }: { alert: Alert; hideText?: boolean }) {
  const { tone, label } = {
    active: SEVERITIES[severity],
    dismissed: { tone: 'idle', label: 'Dismissed' } as const,
    inactive: { tone: 'good', label: 'Clear' } as const,
  }[status];
  return (
    <StateMark tone={tone} hideText={hideText}>
      {label}
    </StateMark>
  );
}
