import { useState } from 'react';
import { Button } from '../ui/button.tsx';
import { StateMark } from '../ui/state-mark.tsx';
import type { Target } from './targets.ts';

const SHOWN = 10;
/** The list has no end for the browser otherwise. */
const MAX_SHOWN = 1000;

/** Some of the computers that something has to be known about. */
export interface Mark {
  /** Beside each of them. */
  label: string;
  applies: (target: Target) => boolean;
  /** Follows "2 computers are". */
  text: string;
}

interface TargetListProps {
  targets: readonly Target[];
  marks: readonly Mark[];
  /** Takes computers out of the action; absent when it is too late. */
  leaveOut?: (ids: readonly number[]) => void;
}

/** Names the computers of an action, and marks those that it cannot reach now. */
export function TargetList({ targets, marks, leaveOut }: TargetListProps) {
  const [isLong, setLong] = useState(false);
  const shown = targets.slice(0, isLong ? MAX_SHOWN : SHOWN);
  return (
    <section aria-labelledby="acting-targets" className="acting-targets">
      <h2 id="acting-targets">
        {targets.length === 1 ? '1 computer' : `${targets.length.toLocaleString()} computers`}
      </h2>
      <ul className="acting-names">
        {shown.map((target) => (
          <TargetLine
            key={target.id}
            target={target}
            mark={marks.find(({ applies }) => applies(target))}
            leaveOut={targets.length > 1 ? leaveOut : undefined}
          />
        ))}
      </ul>
      {targets.length > shown.length && (
        <Button kind="quiet" aria-expanded={isLong} onClick={() => setLong(true)} disabled={isLong}>
          and {(targets.length - shown.length).toLocaleString()} more
        </Button>
      )}
      {marks.map((mark) => (
        <MarkText key={mark.label} mark={mark} targets={targets} leaveOut={leaveOut} />
      ))}
    </section>
  );
}

interface LeaveOut {
  leaveOut?: (ids: readonly number[]) => void;
}

function TargetLine({ target: { id, title }, mark, leaveOut }: LeaveOut & { target: Target; mark?: Mark }) {
  return (
    <li className="acting-name">
      <bdi title={title}>{title}</bdi>
      {mark && <StateMark tone="warn">{mark.label}</StateMark>}
      {leaveOut && (
        <Button
          kind="quiet"
          className="acting-leave-out"
          aria-label={`Leave out ${title}`}
          title="Leave out"
          onClick={() => leaveOut([id])}
        >
          ×
        </Button>
      )}
    </li>
  );
}

/** What a mark means, with a button that leaves its computers out. */
function MarkText({ mark, targets, leaveOut }: LeaveOut & { mark: Mark; targets: readonly Target[] }) {
  const marked = targets.filter(mark.applies);
  if (marked.length === 0) return null;
  const isOne = marked.length === 1;
  return (
    <p className="button-row">
      <span>
        {isOne ? '1 computer is' : `${marked.length.toLocaleString()} computers are`} {mark.text}
      </span>
      {leaveOut && marked.length < targets.length && (
        <Button kind="quiet" onClick={() => leaveOut(marked.map(({ id }) => id))}>
          Leave {isOne ? 'it' : 'them'} out
        </Button>
      )}
    </p>
  );
}
