import { useEffect, useState } from 'react';
import { type TimeFormat, timeText } from './times/time-text.ts';
import { useZone } from './times/use-zone.ts';

const TICK_MS = 30_000;

interface TimeProps {
  /** As the API sends it; a dash stands for none. */
  value: string | null | undefined;
  format?: TimeFormat;
}

/** A time in the person's zone, with the same in UTC on hover. */
export function Time({ value, format = 'short' }: TimeProps) {
  const now = useNow(format === 'relative');
  const zone = useZone();
  if (!value) return <span className="quiet">–</span>;
  const time = new Date(value);
  return (
    <time
      dateTime={time.toISOString()}
      title={`${time
        .toISOString()
        .replace('T', ' ')
        .replace(/\.\d+Z/, '')} UTC`}
    >
      {timeText(time, format, { zone, now: format === 'relative' ? now : Date.now() })}
    </time>
  );
}

function useNow(ticking: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!ticking) return;
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, [ticking]);
  return now;
}
