import { StateMark, type StateTone } from '../../ui/state-mark.tsx';
import type { Script } from './script-types.ts';

const STATUSES: Record<Script['status'], { tone: StateTone; label: string }> = {
  ACTIVE: { tone: 'good', label: 'Active' },
  ARCHIVED: { tone: 'idle', label: 'Archived' },
  REDACTED: { tone: 'warn', label: 'Redacted' },
};

/** The status of a script. */
export function ScriptStatus({ status }: { status: Script['status'] }) {
  return <StateMark tone={STATUSES[status].tone}>{STATUSES[status].label}</StateMark>;
}
