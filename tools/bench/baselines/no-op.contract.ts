import type { Sinks } from '@temporalio/workflow';

/** Asks for a number of workflows that do nothing. */
export interface NoOpOrder {
  count: number;
  /** Workflows open at a time. */
  parallel: number;
  /** Default: `noOp`. A `bareGroup` has a child that waits for a signal, which it is sent. */
  workflow?: 'noOp' | 'bareGroup';
}

export type NoOpReply = { count: number; seconds: number } | { error: string };

/** Tells the process of the worker, at no cost for the server. */
export interface BareSinks extends Sinks {
  bare: {
    /** Its workflow waits for the signal. */
    waits(): void;
  };
}
