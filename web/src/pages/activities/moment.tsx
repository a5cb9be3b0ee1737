import { useEffect, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Time } from '../../ui/time.tsx';
import { clockTime } from '../../ui/times/time-text.ts';
import { useZone } from '../../ui/times/use-zone.ts';
import type { TimelinePoint } from './activity-queries.ts';
import { type Counts, progressText, SHOWN_STATES } from './counts.ts';

/** A replay takes this long at most, whatever time it covers. */
const REPLAY_MS = 6000;
/** Shorter than the time between two reads of an open activity, each of which starts a step anew. */
const MAX_STEP_MS = 500;

interface MomentProps {
  points: readonly TimelinePoint[];
  /** At the moment. */
  counts: Counts;
  isOpen: boolean;
  /** Null for now. */
  moment: string | null;
  onChange: (moment: string | null) => void;
}

/** The life of an activity: a slider chooses the moment that the page shows. */
export function Moment({ points, counts, isOpen, moment, onChange }: MomentProps) {
  const last = points.length - 1;
  const found = moment === null ? last : points.findLastIndex(({ time }) => time <= moment);
  const index = Math.max(0, found);
  const zone = useZone();
  const [isReplaying, setReplaying] = useState(false);
  const show = (to: number) => onChange(to >= last ? null : points[to]!.time);
  useEffect(() => {
    if (!isReplaying) return;
    const timer = setTimeout(
      () => {
        show(index + 1);
        if (index + 1 >= last) setReplaying(false);
      },
      Math.min(REPLAY_MS / points.length, MAX_STEP_MS),
    );
    return () => clearTimeout(timer);
  });
  const replay = () => {
    if (!isReplaying) show(0);
    setReplaying(!isReplaying);
  };
  return (
    <div className="moment">
      <div className="section-head">
        <span>
          {progressText(counts)}
          <span className="quiet">
            {moment === null ? (isOpen ? ', now' : ', at its end') : ', at '}
            {moment !== null && <Time value={points[index]!.time} format="clock" />}
          </span>
        </span>
        <span className="button-row">
          {moment !== null && !isReplaying && (
            <Button kind="quiet" onClick={() => onChange(null)}>
              {isOpen ? 'Back to now' : 'Back to the end'}
            </Button>
          )}
          <Button kind="quiet" onClick={replay}>
            {isReplaying ? 'Stop' : 'Replay'}
          </Button>
        </span>
      </div>
      <Chart points={points} total={counts.total} index={index} />
      <input
        type="range"
        className="moment-slider"
        aria-label="Moment"
        aria-valuetext={clockTime(new Date(points[index]!.time), zone)}
        min={0}
        max={last}
        value={index}
        onChange={({ target }) => {
          setReplaying(false);
          show(Number(target.value));
        }}
      />
    </div>
  );
}

/** Stacked areas of the states, from the bottom in the order of {@link SHOWN_STATES}. */
function Chart({ points, total, index }: { points: readonly TimelinePoint[]; total: number; index: number }) {
  const height = (point: TimelinePoint, layers: number) =>
    SHOWN_STATES.slice(0, layers).reduce((sum, { name }) => sum + point[name], 0);
  const edge = (layers: number) => points.map((point, x) => `${x},${total - height(point, layers)}`);
  return (
    <svg
      viewBox={`0 0 ${points.length - 1} ${total}`}
      preserveAspectRatio="none"
      className="moment-chart"
      aria-hidden="true"
    >
      {SHOWN_STATES.map(({ name, tone }, layer) => (
        <polygon
          key={name}
          className={`fill-${tone}`}
          points={[...edge(layer + 1), ...edge(layer).toReversed()].join(' ')}
        />
      ))}
      <line x1={index} x2={index} y1={0} y2={total} className="moment-line" vectorEffect="non-scaling-stroke" />
    </svg>
  );
}
