import { DomainError } from '../../domain/common/errors.ts';
import { type FairGate, GateRefusal } from './fair-gate.ts';

/** The refusal of a crowd, with a time to wait. @param what - such as `Too many logins at once` */
export function crowded(what: string): DomainError {
  return new DomainError('ServiceUnavailable', `${what}; try again shortly`, { retryAfterSeconds: 1 });
}

/**
 * Runs a task in the turn of its key.
 *
 * @param what - as of {@link crowded}
 * @throws {DomainError} ServiceUnavailable when the gate refuses it; the task was not begun
 */
export async function inTurn<T>(
  gate: FairGate,
  key: number | string,
  what: string,
  task: () => Promise<T>,
): Promise<T> {
  try {
    return await gate.run(key, task);
  } catch (error) {
    if (!(error instanceof GateRefusal)) throw error;
    throw crowded(what);
  }
}
