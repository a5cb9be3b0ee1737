import { type Counts, SHOWN_STATES, waitingOf } from './counts.ts';

/** A bar that shows how much of an activity is done, beside numbers that have the same as text. */
export function ProgressBar({ counts }: { counts: Counts }) {
  return (
    <span className="progress" aria-hidden="true">
      {SHOWN_STATES.map(({ name, tone }) => (
        <span key={name} className={`progress-part fill-${tone}`} style={{ flexGrow: counts[name] }} />
      ))}
      <span className="progress-part" style={{ flexGrow: waitingOf(counts) }} />
    </span>
  );
}
