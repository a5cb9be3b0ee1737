import { StateMark, type StateTone } from '../../ui/state-mark.tsx';
import { eventLabel } from './event-types.ts';
import type { Webhook } from './queries.ts';

const STATES: Record<Webhook['status'], { tone: StateTone; label: string }> = {
  active: { tone: 'good', label: 'Active' },
  paused: { tone: 'idle', label: 'Paused' },
  ended: { tone: 'bad', label: 'Ended by the receiver' },
};

/** Whether events are being sent, and whether they arrive. */
export function WebhookState({ webhook: { status, failing_since } }: { webhook: Webhook }) {
  if (status === 'active' && failing_since !== null) return <StateMark tone="warn">Failing</StateMark>;
  const { tone, label } = STATES[status];
  return <StateMark tone={tone}>{label}</StateMark>;
}

/** The types of events that are sent; null stands for all. */
export function EventTypes({ types }: Pick<Webhook, 'types'>) {
  if (types === null) return 'All';
  return <span title={types.join(', ')}>{types.map(eventLabel).join(', ')}</span>;
}
