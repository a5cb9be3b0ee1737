/** A reason why the stack cannot run that the user can act upon: its message is shown alone, without a stack trace. */
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
