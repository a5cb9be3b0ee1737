/** Bytes that are not one well-formed value within the limits, or a value that cannot be encoded. */
export class BpickleError extends Error {
  /** Offset in the input in bytes; -1 when writing. */
  readonly offset: number;
  readonly isTooMuch: boolean;

  constructor(message: string, offset: number, isTooMuch = false) {
    super(offset < 0 ? message : `${message} at byte ${offset}`);
    this.name = 'BpickleError';
    this.offset = offset;
    this.isTooMuch = isTooMuch;
  }
}
