import type { CloudEvent } from '@flotilla/client';
import { type QueryClient, type QueryKey, useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, use, useEffect, useRef, useState } from 'react';
import { client } from '../api/client.ts';
import { noticeExpiry } from '../api/session-state.ts';
import { keysOf } from './keys.ts';

export type LiveState = 'connecting' | 'live' | 'interrupted';
type Listener = (event: CloudEvent) => void;

interface Live {
  state: LiveState;
  listeners: Set<Listener>;
}

/** Reads again at most this often, however many events come. */
const REFRESH_MS = 1000;
const RETRY_MS = 3000;

const LiveContext = createContext<Live>({ state: 'connecting', listeners: new Set() });

/** Follows the one stream of events of the page, and has queries read again whose results have changed. */
export function LiveProvider({ children }: { children: ReactNode }) {
  const queryClient = useQueryClient();
  const [state, setState] = useState<LiveState>('connecting');
  const [listeners] = useState(() => new Set<Listener>());
  useEffect(() => {
    const stop = new AbortController();
    const refresh = createRefresh(queryClient);
    void follow(stop.signal, {
      onState: setState,
      // Events that were missed are not sent again when the page was away for longer than they are kept.
      onReconnect: () => void queryClient.invalidateQueries(),
      onEvent(event) {
        for (const listener of listeners) listener(event);
        refresh.add(keysOf(event));
      },
    });
    return () => {
      stop.abort();
      refresh.stop();
    };
  }, [queryClient, listeners]);
  return <LiveContext value={{ state, listeners }}>{children}</LiveContext>;
}

/** Whether the page shows changes as they happen. */
export const useLiveState = (): LiveState => use(LiveContext).state;

/** Calls a function with each event. */
export function useLive(listener: Listener): void {
  const { listeners } = use(LiveContext);
  const latest = useRef(listener);
  useEffect(() => {
    latest.current = listener;
  });
  useEffect(() => {
    const call: Listener = (event) => latest.current(event);
    listeners.add(call);
    return () => void listeners.delete(call);
  }, [listeners]);
}

interface Follower {
  onState: (state: LiveState) => void;
  onReconnect: () => void;
  onEvent: Listener;
}

async function follow(signal: AbortSignal, { onState, onReconnect, onEvent }: Follower): Promise<void> {
  let wasInterrupted = false;
  const onCursor = () => {
    onState('live');
    if (wasInterrupted) onReconnect();
    wasInterrupted = false;
  };
  const onOutage = () => {
    wasInterrupted = true;
    onState('interrupted');
  };
  while (!signal.aborted) {
    try {
      for await (const event of client.events({ signal, onCursor, onOutage })) {
        if (wasInterrupted) onCursor();
        onEvent(event);
      }
    } catch (error) {
      if (signal.aborted) return;
      // The server ends the stream with the session: a page on which nothing is read learns of it here.
      noticeExpiry(error);
      onOutage();
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

/** Collects keys, and has each read again once in a period: the first change shows at once. */
function createRefresh(queryClient: QueryClient) {
  const waiting = new Map<string, QueryKey>();
  let timer: ReturnType<typeof setTimeout> | null = null;
  const flush = () => {
    timer = waiting.size > 0 ? setTimeout(flush, REFRESH_MS) : null;
    for (const [name, queryKey] of waiting) {
      // A read that takes longer would be cancelled by the next event, and never finish.
      if (queryClient.isFetching({ queryKey }) > 0) continue;
      waiting.delete(name);
      void queryClient.invalidateQueries({ queryKey });
    }
  };
  return {
    add(keys: readonly QueryKey[]) {
      for (const key of keys) waiting.set(JSON.stringify(key), key);
      if (timer === null) flush();
    },
    stop() {
      if (timer !== null) clearTimeout(timer);
    },
  };
}
