import type { Machine } from './harness/machine.ts';
import type { Report } from './harness/report.ts';
import type { Resources } from './harness/resources.ts';
import type { Options } from './options.ts';

/** Input of every benchmark. */
export interface BenchContext {
  options: Options;
  /** Owns everything that the benchmark starts. */
  resources: Resources;
  root: string;
  machine: Machine;
  progress(text: string): void;
}

export type Benchmark = (context: BenchContext) => Promise<Report>;
