import { Link } from '@tanstack/react-router';
import { Time } from '../../ui/time.tsx';
import type { Line, LineState } from './line-at.ts';
import { readableResult } from './result-text.ts';

/** What an operation waits for, or what came out of it. */
export function Happening({ line, state }: { line: Line; state: LineState }) {
  switch (state.waitsFor) {
    case null: {
      const text = readableResult(line.result_text);
      return text === '' ? <span className="quiet">–</span> : <bdi title={text}>{text}</bdi>;
    }
    case 'approval':
      return 'Waits for approval';
    case 'release':
      return 'Paused';
    case 'time':
      return (
        <>
          Waits until <Time value={line.due_time} format="clock" />
        </>
      );
    case 'activity':
      return (
        <>
          Waits for{' '}
          <Link to="/activities/$activityId" params={{ activityId: String(line.after) }}>
            activity {line.after}
          </Link>{' '}
          to succeed
        </>
      );
    case 'step':
      return 'Waits for the step before';
    case 'backlog':
      return 'Waits for room in the queue of the computer';
    case 'computer':
      return <Silence line={line} />;
    case 'answer':
      return 'Waits for the result from the computer';
  }
}

function Silence({ line: { offline_since, activity_status } }: { line: Line }) {
  if (offline_since === null || activity_status !== 'undelivered') return 'Waits for the next contact of the computer';
  return (
    <>
      Waits for the computer, offline since <Time value={offline_since} format="clock" />
    </>
  );
}
