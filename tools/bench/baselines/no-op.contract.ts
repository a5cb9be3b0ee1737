import type { Sinks } from '@temporalio/workflow';

/** Requests a number of no-op workflows. */
export interface NoOpCommand {
  count: number;
  parallel: number;
  /** Default: `noOp`. A `bareGroup` has a child that waits for a signal, which is sent. */
  workflow?: 'noOp' | 'bareGroup';
}

export type NoOpReply = { count: number; seconds: number } | { error: string };

/** Notifies the worker's process, at no cost for the server. */
export interface BareSinks extends Sinks {
  bare: {
    /** The workflow waits for its signal. */
    waits(): void;
  };
}
