import type { ComputerOperationPlan } from '../../persistence/activities/activity-creation.repository.ts';

/** Assigns operations to computers, in order and chained like their origins. */
export class ChainLayout {
  readonly #positions = new Map<number, number>();
  readonly #links: number[] = [];
  readonly #latest = new Map<number, number>();
  readonly #operations: ComputerOperationPlan[] = [];

  /** @param prior - origin of the operation on the same computer that must succeed first, if it is included */
  add(
    computer: number,
    operation: Pick<ComputerOperationPlan, 'type' | 'summary' | 'message'> & { origin: number },
    prior: number | null,
    delaySeconds: number,
  ): void {
    const place = this.#positions.get(computer) ?? this.#positions.size;
    this.#positions.set(computer, place);
    const link = this.#links[place] ?? 0;
    this.#links[place] = link + 1;
    const after = prior === null ? null : (this.#latest.get(prior) ?? null);
    this.#latest.set(operation.origin, link);
    this.#operations.push({ ...operation, place, link, after, delaySeconds: after === null ? 0 : delaySeconds });
  }

  result(): { computers: number[]; operations: ComputerOperationPlan[] } {
    return { computers: [...this.#positions.keys()], operations: this.#operations };
  }
}
