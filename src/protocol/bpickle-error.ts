/** Bytes that are not one well-formed value within the limits, or a value the encoding has no form for. */
export class BpickleError extends Error {
  /** Where in the input, in bytes; -1 when writing. */
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(offset < 0 ? message : `${message} at byte ${offset}`);
    this.name = 'BpickleError';
    this.offset = offset;
  }
}
