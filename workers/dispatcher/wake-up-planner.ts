import type { BatchEvents } from '../../src/persistence/engine/pending-events.repository.ts';

export interface WakeUpSettings {
  wakeUpMinMs: number;
  wakeUpMaxMs: number;
}

/** Batches up to this size are woken at once; for larger ones, wake-ups are coalesced. */
const AT_ONCE_UP_TO = 10;
/** The wake-up interval grows with the batch: a twentieth of its age. */
const AGE_SHARE = 20;
/** Large batches of an account woken per shortest interval; when there are more, they share these wake-ups. */
const LANES_PER_INTERVAL = 2;
/** Events still pending after this time get another wake-up, and again after twice as long each time. */
const REPEAT_AFTER_MS = 5_000;
/** Limits repeats: a run accepts 10,000 signals, and a stuck workflow must not use them up before it is fixed. */
const LAST_REPEAT_AFTER_MS = 5 * 60_000;

interface Nudged {
  fingerprint: string;
  at: number;
  /** When the wake-up is repeated for the same events, counted from `at`. */
  repeatMs: number;
}

/**
 * Decides which batches to wake now. Its memory only saves wake-ups: after a restart, or with a second planner beside
 * it, some are sent twice, which is harmless.
 * @see docs/architecture.md#signals
 */
export class WakeUpPlanner {
  readonly #settings: WakeUpSettings;
  readonly #nudged = new Map<number, Nudged>();

  constructor(settings: WakeUpSettings) {
    this.#settings = settings;
  }

  /** Picks batches due at `nowMs` and remembers them. `repeated`: already woken for the same events. */
  pick<T extends BatchEvents>(news: readonly T[], nowMs: number): Array<T & { repeated: boolean }> {
    const crowds = largeLanesByAccount(news);
    const due = news
      .filter((lane) => this.#isDue(lane, crowds.get(lane.account) ?? 0, nowMs))
      .map((lane) => ({ ...lane, repeated: this.#nudged.get(lane.lane)?.fingerprint === lane.fingerprint }));
    for (const { lane, fingerprint, repeated } of due) {
      const repeatMs = repeated
        ? Math.min(this.#nudged.get(lane)!.repeatMs * 2, LAST_REPEAT_AFTER_MS)
        : REPEAT_AFTER_MS;
      this.#nudged.set(lane, { fingerprint, at: nowMs, repeatMs });
    }
    this.#forget(news, nowMs);
    return due;
  }

  /** Makes the batch due in the next poll, after a failed wake-up. */
  retry(lane: number): void {
    this.#nudged.delete(lane);
  }

  #isDue(lane: BatchEvents, crowd: number, nowMs: number): boolean {
    const last = this.#nudged.get(lane.lane);
    if (!last) return true;
    const sinceMs = nowMs - last.at;
    if (last.fingerprint === lane.fingerprint) return sinceMs >= last.repeatMs;
    if (lane.size <= AT_ONCE_UP_TO || isUrgent(lane)) return true;
    return sinceMs >= this.#interval(lane.ageMs, crowd);
  }

  /** Every wake-up costs the same, so for many batches of a group they would cost more than the work itself. */
  #interval(ageMs: number, crowd: number): number {
    const { wakeUpMinMs, wakeUpMaxMs } = this.#settings;
    const shared = (crowd / LANES_PER_INTERVAL) * wakeUpMinMs;
    return Math.min(Math.max(ageMs / AGE_SHARE, shared, wakeUpMinMs), wakeUpMaxMs);
  }

  #forget(news: readonly BatchEvents[], nowMs: number): void {
    const keepMs = Math.max(REPEAT_AFTER_MS, this.#settings.wakeUpMaxMs);
    const present = new Set(news.map((lane) => lane.lane));
    for (const [lane, { at }] of this.#nudged) {
      if (!present.has(lane) && nowMs - at >= keepMs) this.#nudged.delete(lane);
    }
  }
}

function largeLanesByAccount(news: readonly BatchEvents[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const { account, size } of news) if (size > AT_ONCE_UP_TO) counts.set(account, (counts.get(account) ?? 0) + 1);
  return counts;
}

/** A cancel or the last results: waiting longer would save nothing. */
function isUrgent(lane: BatchEvents): boolean {
  return lane.hasCancel || (lane.open > 0 && lane.results >= lane.open);
}
