import type { BatchPlan, BatchProgress, GroupProgress } from '../contracts/activities.ts';
import type { ProgressResult } from '../contracts/queries.ts';

const NAMED = 3;

/** Progress shown on a running workflow, for example "8 of 10 computers done; waiting for web-3, db-1". */
export function progressLine({ done, total, unit, waitingFor, more }: ProgressResult): string {
  const line = `${grouped(done)} of ${grouped(total)} ${total === 1 ? unit : `${unit}s`} done`;
  if (done >= total || waitingFor.length === 0) return line;
  const others = unit === 'computer' ? '' : more === 1 ? ' computer' : ' computers';
  return `${line}; waiting for ${waitingFor.join(', ')}${more > 0 ? ` and ${grouped(more)} more${others}` : ''}`;
}

/** Counts operations for a batch with chains, else computers. */
export function batchProgress(progress: BatchProgress): ProgressResult {
  const { open, waitingFor, chained, moreWaiting } = progress;
  const done = progress.succeeded + progress.failed + progress.canceled;
  const unit = chained ? 'operation' : 'computer';
  return { done, total: done + open, unit, waitingFor, more: moreWaiting ?? open - waitingFor.length };
}

/** Progress of a group whose batches are awaited, in whole batches. */
export function groupProgress(plans: readonly BatchPlan[], waiting: readonly BatchPlan[]): ProgressResult {
  const total = computersOf(plans);
  const waitingFor = waiting.slice(0, NAMED).map(({ computer, summary }) => computer?.title ?? summary);
  const done = total - computersOf(waiting);
  return { done, total, unit: 'computer', waitingFor, more: computersOf(waiting.slice(NAMED)) };
}

/** Progress of a group by its rows only. */
export function rowsProgress(progress: GroupProgress, plans: readonly BatchPlan[]): ProgressResult {
  const done = progress.succeeded + progress.failed + progress.canceled;
  const chained = plans.some(({ computers, size }) => computers !== undefined && computers !== size);
  const unit = chained ? 'operation' : 'computer';
  return { done, total: done + progress.open, unit, waitingFor: [], more: 0 };
}

function computersOf(plans: readonly BatchPlan[]): number {
  return plans.reduce((sum, { computers, size }) => sum + (computers ?? size ?? 1), 0);
}

function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}
