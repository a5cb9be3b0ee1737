import type { PlacedOperation } from '../../persistence/activities/activity-creation.repository.ts';

/** Places operations on their computers: each computer's in order, chained as their origins are. */
export class Layout {
  readonly #places = new Map<number, number>();
  readonly #steps: number[] = [];
  readonly #latest = new Map<number, number>();
  readonly #operations: PlacedOperation[] = [];

  /** @param behind - origin of the operation on the same computer that this one waits for, if it is here */
  add(
    computer: number,
    operation: Pick<PlacedOperation, 'type' | 'summary' | 'message'> & { origin: number },
    behind: number | null,
    delaySeconds: number,
  ): void {
    const place = this.#places.get(computer) ?? this.#places.size;
    this.#places.set(computer, place);
    const step = this.#steps[place] ?? 0;
    this.#steps[place] = step + 1;
    const after = behind === null ? null : (this.#latest.get(behind) ?? null);
    this.#latest.set(operation.origin, step);
    this.#operations.push({ ...operation, place, step, after, delaySeconds: after === null ? 0 : delaySeconds });
  }

  result(): { computers: number[]; operations: PlacedOperation[] } {
    return { computers: [...this.#places.keys()], operations: this.#operations };
  }
}
