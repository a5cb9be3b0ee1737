export interface Timer {
  cancel(): void;
}

export interface TimerWheel {
  /** Calls `run` once, at most one tick late. */
  after(delayMs: number, run: () => void): Timer;
  stop(): void;
}

interface Entry {
  run: (() => void) | null;
}

/** Any number of timers on one interval of the runtime: ten thousand agents need twenty thousand. */
export function createTimerWheel(tickMs: number): TimerWheel {
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
