import { inverseOf, revertSummary } from '../../domain/engine/inverse.ts';
import { withRunOrigin } from '../../domain/scripts/environment.ts';
import type { NotReverted } from '../../persistence/activities/activities.sql.ts';
import type {
  ComputerOperationPlan,
  OperationMessage,
  PerComputerGroupPlan,
} from '../../persistence/activities/activity-creation.repository.ts';
import {
  readDone,
  readMessages,
  readNotReverted,
  type SourceActivity,
  type SourceOperation,
} from '../../persistence/activities/activity-repeats.sql.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import type { Caller } from '../common/ports.ts';

export type Draft = Pick<
  PerComputerGroupPlan,
  'summary' | 'windowMinutes' | 'computers' | 'operations' | 'messages'
> & {
  parameters: NonNullable<PerComputerGroupPlan['parameters']>;
  /** What a revert omits; null for a repetition. */
  notReverted: readonly NotReverted[] | null;
};

/** The same operations with the same parameters. */
export async function repeat(
  tx: Sql,
  source: SourceActivity,
  operations: readonly SourceOperation[],
  { caller, now }: { caller: Caller; now: Date },
): Promise<Draft> {
  const payloads = operations.map(({ payload_id }) => payload_id);
  const known = await readMessages(tx, payloads);
  const positions = new Map([...known.keys()].map((payload, position) => [payload, position]));
  const layout = new ChainLayout();
  for (const { id, computer_id, type, summary, payload_id, blocked_by, delay_seconds } of operations) {
    const message = positions.get(payload_id)!;
    layout.add(computer_id, { type, summary, message, origin: id }, blocked_by, delay_seconds);
  }
  const { not_reverted: _, ...parameters } = source.parameters ?? {};
  return {
    ...layout.result(),
    summary: source.summary,
    windowMinutes: source.deliver_delay_window,
    messages: [...known.values()].map((message) => withRunOrigin(message, { creatorId: caller.personId, now })),
    parameters,
    notReverted: null,
  };
}

/** The inverse of successful operations, and what it omits. @param lost - computers that no longer accept operations */
export async function undo(
  tx: Sql,
  source: SourceActivity,
  { operations, lost }: { operations: readonly SourceOperation[]; lost: ReadonlySet<number> },
  now: Date,
): Promise<Draft> {
  const here = operations.filter(({ computer_id }) => !lost.has(computer_id));
  const ids = here.map(({ id }) => id);
  const done = await readDone(tx, ids);
  const messages = new Map<string, { position: number; message: OperationMessage }>();
  const layout = new ChainLayout();
  const undone = new Set<number>();
  for (const { id, computer_id } of here) {
    const original = done.get(id);
    const inverse = original ? inverseOf(original, now) : [];
    for (const [index, { message, ...operation }] of inverse.entries()) {
      const key = JSON.stringify(message);
      const { position } = messages.get(key) ?? { position: messages.size };
      messages.set(key, { position, message });
      layout.add(computer_id, { ...operation, message: position, origin: id }, index === 0 ? null : id, 0);
      undone.add(id);
    }
  }
  const rest = operations.flatMap(({ id }) => (undone.has(id) ? [] : [id]));
  const notReverted = await readNotReverted(tx, rest);
  return {
    ...layout.result(),
    summary: revertSummary(source.summary),
    windowMinutes: 0,
    messages: [...messages.values()].map(({ message }) => message),
    parameters: { operation: 'revert', activity: source.id, not_reverted: notReverted },
    notReverted,
  };
}

/** Assigns operations to computers, in order and chained like their origins. */
class ChainLayout {
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
