import { SMALL_BATCH } from '../../src/persistence/activities/outbox.sql.ts';
import type { BatchEvents } from '../../src/persistence/engine/pending-events.sql.ts';
import { DELIVERY_WAIT_MS } from './report-notifications.ts';

export interface WakeUpSettings {
  wakeUpMinMs: number;
  wakeUpMaxMs: number;
}

/** The wake-up interval grows with the batch: a twentieth of its age. */
const AGE_SHARE = 20;
/** Events still pending after this time get another wake-up, and again after twice as long each time. */
const REPEAT_AFTER_MS = 5_000;
/** A run accepts 10,000 signals; a stuck workflow must not use them up before it is fixed. */
const LAST_REPEAT_AFTER_MS = 5 * 60_000;

interface WakeUp {
  fingerprint: string;
  at: number;
  repeatMs: number;
}

/** Decides which batches to wake now. Its memory only saves wake-ups. @see docs/architecture.md#signals */
export class WakeUpPlanner {
  readonly #settings: WakeUpSettings;
  readonly #woken = new Map<number, WakeUp>();
  /** When a small batch that has only deliveries was first seen. */
  readonly #delivered = new Map<number, number>();

  constructor(settings: WakeUpSettings) {
    this.#settings = settings;
  }

  /** Picks batches due at `nowMs` and remembers them. `repeated`: already woken for the same events. */
  pick<T extends BatchEvents>(pending: readonly T[], nowMs: number): Array<T & { repeated: boolean }> {
    const largeBatches = largeBatchesByAccount(pending);
    const due = pending
      .filter((batch) => this.#isDue(batch, largeBatches.get(batch.account) ?? 0, nowMs))
      .map((batch) => ({ ...batch, repeated: this.#woken.get(batch.id)?.fingerprint === batch.fingerprint }));
    for (const { id, fingerprint, repeated } of due) {
      const repeatMs = repeated ? Math.min(this.#woken.get(id)!.repeatMs * 2, LAST_REPEAT_AFTER_MS) : REPEAT_AFTER_MS;
      this.#woken.set(id, { fingerprint, at: nowMs, repeatMs });
    }
    this.#deleteOld(pending, nowMs);
    return due;
  }

  /** After a failed wake-up: the batch is due again at once. */
  retry(batch: number): void {
    this.#woken.delete(batch);
  }

  #isDue(batch: BatchEvents, largeBatches: number, nowMs: number): boolean {
    if (this.#mayBeReportedSoon(batch, nowMs)) return false;
    const last = this.#woken.get(batch.id);
    if (!last) return true;
    const sinceMs = nowMs - last.at;
    if (last.fingerprint === batch.fingerprint) return sinceMs >= last.repeatMs;
    if (batch.size <= SMALL_BATCH || isUrgent(batch)) return true;
    return sinceMs >= this.#interval(batch.ageMs, largeBatches);
  }

  #mayBeReportedSoon({ id, size, results, hasCancel }: BatchEvents, nowMs: number): boolean {
    if (size > SMALL_BATCH || results > 0 || hasCancel) return false;
    const since = this.#delivered.get(id) ?? nowMs;
    this.#delivered.set(id, since);
    return nowMs - since < DELIVERY_WAIT_MS;
  }

  /**
   * Large batches of an account share one wake-up per shortest interval. Every wake-up costs the same, so for many batches
   * of a group they would cost more than the work itself.
   */
  #interval(ageMs: number, largeBatches: number): number {
    const { wakeUpMinMs, wakeUpMaxMs } = this.#settings;
    const shared = largeBatches * wakeUpMinMs;
    return Math.min(Math.max(ageMs / AGE_SHARE, shared, wakeUpMinMs), wakeUpMaxMs);
  }

  #deleteOld(pending: readonly BatchEvents[], nowMs: number): void {
    const keepMs = Math.max(REPEAT_AFTER_MS, this.#settings.wakeUpMaxMs);
    const present = new Set(pending.map((batch) => batch.id));
    for (const [batch, { at }] of this.#woken) {
      if (!present.has(batch) && nowMs - at >= keepMs) this.#woken.delete(batch);
    }
    for (const batch of this.#delivered.keys()) if (!present.has(batch)) this.#delivered.delete(batch);
  }
}

function largeBatchesByAccount(pending: readonly BatchEvents[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const { account, size } of pending) if (size > SMALL_BATCH) counts.set(account, (counts.get(account) ?? 0) + 1);
  return counts;
}

/** A cancel or the last results: waiting longer would save nothing. */
function isUrgent(batch: BatchEvents): boolean {
  return batch.hasCancel || (batch.open > 0 && batch.results >= batch.open);
}
