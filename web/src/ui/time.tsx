import { useEffect, useState } from 'react';

const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const SHORT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const DAY_AND_CLOCK = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
  second: '2-digit',
});
const RELATIVE = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' });
const FORMATS = {
  short: (time: Date) => SHORT.format(time),
  full: (time: Date) => FULL.format(time),
  clock: clockTime,
};
const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const;
/** Beyond this, a date is clearer than a number of days. */
const MAX_RELATIVE_S = 7 * 86_400;
const TICK_MS = 30_000;

interface TimeProps {
  /** As the API sends it; a dash stands for none. */
  value: string | null | undefined;
  /** `relative` for tables that are read for how long ago something was, `clock` for those where seconds count. */
  format?: 'short' | 'full' | 'relative' | 'clock';
}

/** A time in the person's zone, with the same in UTC on hover. */
export function Time({ value, format = 'short' }: TimeProps) {
  const now = useNow(format === 'relative');
  if (!value) return <span className="quiet">–</span>;
  const time = new Date(value);
  const text = format === 'relative' ? relativeTime(time, now) : FORMATS[format](time);
  return (
    <time
      dateTime={time.toISOString()}
      title={`${time
        .toISOString()
        .replace('T', ' ')
        .replace(/\.\d+Z/, '')} UTC`}
    >
      {text}
    </time>
  );
}

/** Such as "3 min. ago"; a date for what is more than a week away. */
export function relativeTime(time: Date, now: number): string {
  const seconds = Math.round((time.getTime() - now) / 1000);
  if (Math.abs(seconds) > MAX_RELATIVE_S) return SHORT.format(time);
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1];
  return RELATIVE.format(Math.round(seconds / size), unit);
}

/** Such as "2:04:05 PM", with the day if that is not today. */
export function clockTime(time: Date): string {
  return (time.toDateString() === new Date().toDateString() ? CLOCK : DAY_AND_CLOCK).format(time);
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
