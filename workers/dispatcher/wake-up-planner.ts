import type { BatchEvents } from '../../src/persistence/engine/pending-events.repository.ts';

export interface WakeUpSettings {
  wakeUpMinMs: number;
  wakeUpMaxMs: number;
}

/** Lanes up to this size are nudged at once; above, nudges are coalesced. */
const AT_ONCE_UP_TO = 10;
/** The nudge interval grows with the lane: a twentieth of its age. */
const AGE_SHARE = 20;
/** So many large lanes of an account may be nudged in each shortest interval; more of them share these nudges. */
const LANES_PER_INTERVAL = 2;
/** News that is still there after this long was nudged in vain: once more, and each time after twice as long. */
const REPEAT_AFTER_MS = 5_000;
/** A run takes 10,000 signals: one that cannot move must not use them up before somebody has mended it. */
const LAST_REPEAT_AFTER_MS = 5 * 60_000;

interface Nudged {
  fingerprint: string;
  at: number;
  /** When the same news is nudged again, counted from `at`. */
  repeatMs: number;
}

/**
 * Decides which lanes to nudge now. What it remembers only saves nudges: a planner that forgets, or a second one
 * beside it, nudges once too often and does no harm.
 * @see docs/architecture.md#signals
 */
export class WakeUpPlanner {
  readonly #settings: WakeUpSettings;
  readonly #nudged = new Map<number, Nudged>();

  constructor(settings: WakeUpSettings) {
    this.#settings = settings;
  }

  /**
   * Picks from all lanes that have news at `nowMs`, and remembers them as nudged. `repeated`: the same news was nudged
   * before.
   */
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

  /** Makes the lane due again in the next round, after a nudge that failed. */
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

  /** A nudge costs the same for every lane, so that many lanes of one group would cost more than their work. */
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

/** A cancel, or the last results: waiting any longer would save nothing. */
function isUrgent(lane: BatchEvents): boolean {
  return lane.hasCancel || (lane.open > 0 && lane.results >= lane.open);
}
