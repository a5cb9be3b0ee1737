import type { Resources } from '../harness/resources.ts';
import type { Stack } from './stack.ts';

/** Simulated agents in a process of their own; its CPU is shown and never counted for the product. */
export interface BenchFleet {
  readonly pid: number;
  /** Executions so far: how often an operation ran, and how many ran more than once. */
  ledger(): Promise<{ executed: number; repeated: number }>;
}

export async function startFleet(
  _resources: Resources,
  _stack: Stack,
  _options: { computers: number; account: string; pingSeconds: number; seed: number },
): Promise<BenchFleet> {
  throw new Error('not yet');
}
