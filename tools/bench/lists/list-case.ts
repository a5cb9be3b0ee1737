/** A row as returned by the driver, with its own type parsers. */
export type BareRow = Readonly<Record<string, unknown>>;

/** One object of a page as returned by the product. */
export type Item = Readonly<Record<string, unknown>>;

export interface Page {
  count: number;
  results: readonly Item[];
}

/** A plain statement of the baseline. */
export interface BareStatement {
  text: string;
  values: readonly unknown[];
  /** The ids of the first statement's rows become the last parameter. */
  takesIds?: boolean;
}

/** The statements of one page, to be run one after another, and the number of repetitions. */
export interface BareCommand {
  statements: readonly BareStatement[];
  count: number;
}

/** Milliseconds of each repetition, or an error. */
export type BareReply = { times: number[] } | { error: string };

/** One request of the product and the minimal SQL that reads the same data. */
export interface ListCase {
  name: string;
  /** `page` and `offset` walk through everything, `narrow` cases return a few rows. */
  family: 'page' | 'selector' | 'narrow' | 'block' | 'offset';
  path: string;
  /** The caller: the first administrator, or one who sees only some access groups. */
  requester?: 'restricted';
  /** First the rows of the page, second the total number. */
  bare: readonly BareStatement[];
  /** Whether the response contains what the case measures; absent: yes. */
  isServed?(page: Page): boolean;
  /** Compares a response with the rows of every statement. @throws {AssertionError} when they differ */
  check(page: Page, rows: ReadonlyArray<readonly BareRow[]>): void;
}
