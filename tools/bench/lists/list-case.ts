/** A row as the driver gives it, with its own type parsers. */
export type BareRow = Readonly<Record<string, unknown>>;

/** One object of a page as the product answers it. */
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

/** One request of the product and the least SQL that reads what it answers. */
export interface ListCase {
  name: string;
  /** `page` and `offset` are walks through everything, `narrow` cases answer a handful of rows. */
  family: 'page' | 'selector' | 'narrow' | 'block' | 'offset';
  /** Path with query, below the prefix of the API. */
  path: string;
  /** Who asks: the first administrator, or one who sees only some access groups. */
  asker?: 'restricted';
  /** The rows of the page first, the number of all second. */
  bare: readonly BareStatement[];
  /** Whether the answer has what the case is about at all; absent: yes. */
  isServed?(page: Page): boolean;
  /** Holds an answer against the rows of every statement. @throws {AssertionError} when they say different things */
  check(page: Page, rows: ReadonlyArray<readonly BareRow[]>): void;
}
