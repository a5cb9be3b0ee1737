/** A moment that was asked for; cancelling it twice or after it passed changes nothing. */
export interface Moment {
  cancel(): void;
}

export interface TimerWheel {
  /** Calls `run` once, `delayMs` from now, at most one tick late. */
  after(delayMs: number, run: () => void): Moment;
  /** Forgets all moments and takes no new ones. */
  stop(): void;
}

interface Entry {
  run: (() => void) | null;
}

const DEFAULT_TICK_MS = 50;

/**
 * One timer for any number of moments: ten thousand agents would otherwise keep twenty thousand timers of the runtime.
 */
export function createTimerWheel(tickMs = DEFAULT_TICK_MS): TimerWheel {
  const slots = new Map<number, Entry[]>();
  const now = (): number => Math.floor(performance.now() / tickMs);
  let last = now();
  let stopped = false;
  const turn = (): void => {
    for (const current = now(); last < current; ) {
      last++;
      const due = slots.get(last);
      if (!due) continue;
      slots.delete(last);
      for (const entry of due) entry.run?.();
    }
  };
  const timer = setInterval(turn, tickMs);
  return {
    after(delayMs, run) {
      const entry: Entry = { run };
      if (!stopped) {
        const slot = Math.max(last + 1, now() + Math.ceil(delayMs / tickMs));
        const due = slots.get(slot);
        if (due) due.push(entry);
        else slots.set(slot, [entry]);
      }
      return {
        cancel() {
          entry.run = null;
        },
      };
    },
    stop() {
      stopped = true;
      clearInterval(timer);
      slots.clear();
    },
  };
}
