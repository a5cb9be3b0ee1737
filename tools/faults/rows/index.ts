import { AGENTS } from './agents.rows.ts';
import type { RowCase } from './case.ts';
import { DATABASE } from './database.rows.ts';
import { DURABLE } from './durable.rows.ts';
import { TIME } from './time.rows.ts';
import { WORKERS } from './workers.rows.ts';

/** Every case on a running stack, by row. */
export const ROW_CASES: readonly RowCase[] = [...DURABLE, ...DATABASE, ...AGENTS, ...TIME, ...WORKERS].toSorted(
  (a, b) => a.row - b.row,
);
