/** Why the stack cannot run, for the user to act upon: shown without a stack trace. */
export class StackError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StackError';
  }
}

/** Wraps the failure of a part as the reason why the stack cannot run. */
export function asStackError(error: unknown): StackError {
  if (error instanceof StackError) return error;
  return new StackError(error instanceof Error ? error.message : String(error), { cause: error });
}
