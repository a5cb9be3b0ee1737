/** What waits in the inbox of one lane. */
export interface LaneNews {
  lane: number;
  /** Changes with every inserted row. Not the highest id: sequence order is not commit order. */
  fingerprint: string;
  results: number;
  hasCancel: boolean;
  /** Operations of the lane, all and still open. */
  size: number;
  open: number;
  ageMs: number;
}

export interface NudgeSettings {
  nudgeMinMs: number;
  nudgeMaxMs: number;
}

/** Lanes up to this size are nudged at once; above, nudges are coalesced. */
const SMALL_LANE = 10;
/** The nudge interval grows with the lane: a twentieth of its age. */
const AGE_SHARE = 20;
/** News that is still there after this long was nudged in vain: once more. */
const REPEAT_AFTER_MS = 5_000;

interface Nudged {
  fingerprint: string;
  at: number;
}

/**
 * Decides which lanes to nudge now. What it remembers only saves nudges: a planner that forgets, or a second one
 * beside it, nudges once too often and does no harm.
 *
 * @see temporal-design 3, "Relay tick"
 */
export class NudgePlanner {
  readonly #settings: NudgeSettings;
  readonly #nudged = new Map<number, Nudged>();

  constructor(settings: NudgeSettings) {
    this.#settings = settings;
  }

  /**
   * Picks from all lanes that have news at `nowMs`, and remembers them as nudged. `repeated`: the same news was nudged
   * before.
   */
  pick<T extends LaneNews>(news: readonly T[], nowMs: number): Array<T & { repeated: boolean }> {
    const due = news
      .filter((lane) => this.#isDue(lane, nowMs))
      .map((lane) => ({ ...lane, repeated: this.#nudged.get(lane.lane)?.fingerprint === lane.fingerprint }));
    for (const lane of due) {
      this.#nudged.set(lane.lane, { fingerprint: lane.fingerprint, at: nowMs });
    }
    this.#forget(news, nowMs);
    return due;
  }

  /** Makes the lane due again in the next round, after a nudge that failed. */
  retry(lane: number): void {
    this.#nudged.delete(lane);
  }

  #isDue(lane: LaneNews, nowMs: number): boolean {
    const last = this.#nudged.get(lane.lane);
    if (!last) return true;
    const sinceMs = nowMs - last.at;
    if (last.fingerprint === lane.fingerprint) return sinceMs >= REPEAT_AFTER_MS;
    if (lane.size <= SMALL_LANE || isUrgent(lane)) return true;
    return sinceMs >= this.#interval(lane.ageMs);
  }

  #interval(ageMs: number): number {
    const { nudgeMinMs, nudgeMaxMs } = this.#settings;
    return Math.min(Math.max(ageMs / AGE_SHARE, nudgeMinMs), nudgeMaxMs);
  }

  #forget(news: readonly LaneNews[], nowMs: number): void {
    const keepMs = Math.max(REPEAT_AFTER_MS, this.#settings.nudgeMaxMs);
    const present = new Set(news.map((lane) => lane.lane));
    for (const [lane, { at }] of this.#nudged) {
      if (!present.has(lane) && nowMs - at >= keepMs) this.#nudged.delete(lane);
    }
  }
}

/** A cancel, or the last results: waiting any longer would save nothing. */
function isUrgent(lane: LaneNews): boolean {
  return lane.hasCancel || (lane.open > 0 && lane.results >= lane.open);
}
