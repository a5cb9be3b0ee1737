import type { BObject } from '../../../src/protocol/bpickle.ts';

/** What an answer's wish for a number meant to the queue. @see docs/agent-protocol.md#sequence-numbers-and-delivery */
export type Acknowledgement = 'in step' | 'stepped back' | 'start over';

/** The most messages of one payload. */
export const PAYLOAD_LIMIT = 100;

/**
 * Messages on their way to the server, numbered by position: `sequence` is the number of the first pending one.
 * The last acknowledged batch is kept until the next is, for a server that steps back.
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

  /** What is pending, then messages of types the server does not take (yet). */
  get all(): readonly BObject[] {
    return [...this.#pending, ...this.#held];
  }

  /** Queues a message, or holds it back while its type is not accepted. */
  add(message: BObject, accepted: ReadonlySet<string>): void {
    if (accepted.has(message['type'] as string)) this.#pending.push(message);
    else this.#held.push(message);
  }

  /** The messages of the next payload. */
  batch(): BObject[] {
    return this.#pending.slice(0, PAYLOAD_LIMIT);
  }

  /** Sorts pending and held messages anew after the accepted types changed. */
  accept(accepted: ReadonlySet<string>): void {
    const { all } = this;
    this.#pending = all.filter((message) => accepted.has(message['type'] as string));
    this.#held = all.filter((message) => !accepted.has(message['type'] as string));
  }

  /** Puts another message, or the same, in the place of each. */
  replace(change: (message: BObject) => BObject): void {
    this.#kept = this.#kept.map(change);
    this.#pending = this.#pending.map(change);
    this.#held = this.#held.map(change);
  }

  /** Drops everything but the number. */
  clear(): void {
    this.#kept = [];
    this.#pending = [];
    this.#held = [];
  }

  /**
   * Moves to the number the server wants next.
   *
   * @param next - absent when the answer names none: all `sent` messages arrived
   */
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
