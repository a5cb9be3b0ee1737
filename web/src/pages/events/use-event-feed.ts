import type { CloudEvent } from '@flotilla/client';
import { useEffect, useRef, useState } from 'react';
import { useLive } from '../../live/live.tsx';

/** An event with its number among those that came. */
export interface FeedEvent {
  number: number;
  event: CloudEvent;
}

const KEPT = 2000;
/** Hundreds of events may come in a second; the page is drawn a few times. */
const DRAW_MS = 200;

/** The latest events, newest first. While it is paused they are collected, and shown when it goes on. */
export function useEventFeed() {
  const arrived = useRef<FeedEvent[]>([]);
  const last = useRef(0);
  const [shown, setShown] = useState<readonly FeedEvent[]>([]);
  const [waiting, setWaiting] = useState(0);
  const [isPaused, setPaused] = useState(false);
  useLive((event) => {
    last.current += 1;
    arrived.current = [{ number: last.current, event }, ...arrived.current.slice(0, KEPT - 1)];
  });
  useEffect(() => {
    const draw = () => {
      if (isPaused) setWaiting(arrived.current.length);
      else if (arrived.current.length > 0) {
        const batch = arrived.current;
        arrived.current = [];
        setShown((old) => [...batch, ...old].slice(0, KEPT));
      }
    };
    draw();
    const timer = setInterval(draw, DRAW_MS);
    return () => clearInterval(timer);
  }, [isPaused]);
  return {
    events: shown,
    isPaused,
    /** Events that have come since it was paused. */
    waiting: isPaused ? waiting : 0,
    toggle: () => {
      setWaiting(0);
      setPaused(!isPaused);
    },
    clear: () => setShown([]),
  };
}
