/** Bytes that are not one well-formed value within the limits, or a value the encoding has no form for. */
export class BpickleError extends Error {
  /** Where in the input, in bytes; -1 when writing. */
  readonly offset: number;
  /** Nothing is wrong but that there is too much of it. */
  readonly isTooMuch: boolean;

  constructor(message: string, offset: number, isTooMuch = false) {
    super(offset < 0 ? message : `${message} at byte ${offset}`);
    this.name = 'BpickleError';
    this.offset = offset;
    this.isTooMuch = isTooMuch;
  }
}
