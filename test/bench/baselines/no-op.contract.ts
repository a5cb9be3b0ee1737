/** Asks for a number of no-op workflows. */
export interface NoOpOrder {
  count: number;
  /** Workflows open at a time. */
  parallel: number;
}

export type NoOpReply = { count: number; seconds: number } | { error: string };
