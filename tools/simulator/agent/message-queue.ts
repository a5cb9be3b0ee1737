import type { BObject } from '../../../src/protocol/bpickle.ts';

/** What the number in a response means for the queue. @see docs/agent-protocol.md#sequence-numbers-and-delivery */
export type Acknowledgement = 'in step' | 'stepped back' | 'start over';

export const MAX_MESSAGES_PER_PAYLOAD = 100;

/**
 * Unacknowledged messages, numbered by position: `sequence` is the number of the first pending one. The last
 * acknowledged batch is kept for a server that steps back.
 */
export class MessageQueue {
  sequence = 0;
  #kept: BObject[] = [];
  #pending: BObject[] = [];
  #held: BObject[] = [];

  get length(): number {
    return this.#pending.length;
  }

  get pending(): readonly BObject[] {
    return this.#pending;
  }

  /** Pending messages, then those of types that the server does not accept. */
  get all(): readonly BObject[] {
    return [...this.#pending, ...this.#held];
  }

  /** A message is held while its type is not accepted. */
  add(message: BObject, accepted: ReadonlySet<string>): void {
    if (accepted.has(message['type'] as string)) this.#pending.push(message);
    else this.#held.push(message);
  }

  batch(): BObject[] {
    return this.#pending.slice(0, MAX_MESSAGES_PER_PAYLOAD);
  }

  /** Call it when the accepted types changed. */
  accept(accepted: ReadonlySet<string>): void {
    const { all } = this;
    this.#pending = all.filter((message) => accepted.has(message['type'] as string));
    this.#held = all.filter((message) => !accepted.has(message['type'] as string));
  }

  replace(change: (message: BObject) => BObject): void {
    this.#kept = this.#kept.map(change);
    this.#pending = this.#pending.map(change);
    this.#held = this.#held.map(change);
  }

  /** Keeps the number. */
  clear(): void {
    this.#kept = [];
    this.#pending = [];
    this.#held = [];
  }

  /** @param next - the number that the server expects; if absent, all `sent` messages arrived */
  acknowledge(next: number | undefined, sent: number): Acknowledgement {
    const wanted = next ?? this.sequence + sent;
    const moved = wanted - this.sequence;
    this.sequence = wanted;
    if (moved > this.#pending.length || moved < -this.#kept.length) {
      this.#pending = [...this.#kept, ...this.#pending];
      this.#kept = [];
      return 'start over';
    }
    if (moved > 0) {
      this.#kept = this.#pending.splice(0, moved);
      return 'in step';
    }
    if (moved < 0) this.#pending = [...this.#kept.splice(moved), ...this.#pending];
    return moved < 0 ? 'stepped back' : 'in step';
  }
}
