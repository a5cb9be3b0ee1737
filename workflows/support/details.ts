import type { GroupProgress, LanePlan, LaneProgress } from '../contracts/activities.ts';

const NAMED = 3;

export interface Progress {
  done: number;
  total: number;
  /** What is counted: a computer may have several operations. */
  unit: 'computer' | 'operation';
}

/**
 * What an operator reads on a running workflow, for example "8 of 10 computers done; waiting for web-3, db-1".
 *
 * @param more - computers waited for that are not in `waitingFor`
 */
export function progressLine({ done, total, unit }: Progress, waitingFor: readonly string[], more: number): string {
  const line = `${grouped(done)} of ${grouped(total)} ${total === 1 ? unit : `${unit}s`} done`;
  if (done >= total || waitingFor.length === 0) return line;
  const others = unit === 'computer' ? '' : more === 1 ? ' computer' : ' computers';
  return `${line}; waiting for ${waitingFor.join(', ')}${more > 0 ? ` and ${grouped(more)} more${others}` : ''}`;
}

/** The line of one lane. */
export function laneLine(progress: LaneProgress): string {
  const { open, waitingFor, chained, moreWaiting } = progress;
  const done = progress.succeeded + progress.failed + progress.canceled;
  const unit = chained ? 'operation' : 'computer';
  return progressLine({ done, total: done + open, unit }, waitingFor, moreWaiting ?? open - waitingFor.length);
}

/** The line of a group whose lanes are waited for: whole lanes are done or not. */
export function lanesLine(plans: readonly LanePlan[], open: ReadonlySet<LanePlan>): string {
  const total = computersOf(plans);
  const waiting = [...open];
  const names = waiting.slice(0, NAMED).map(({ computer, summary }) => computer?.title ?? summary);
  const done = total - computersOf(waiting);
  return progressLine({ done, total, unit: 'computer' }, names, computersOf(waiting.slice(NAMED)));
}

/** The line of a group of which only the rows tell. */
export function rowsLine(progress: GroupProgress, plans: readonly LanePlan[]): string {
  const done = progress.succeeded + progress.failed + progress.canceled;
  const chained = plans.some(({ computers, size }) => computers !== undefined && computers !== size);
  return progressLine({ done, total: done + progress.open, unit: chained ? 'operation' : 'computer' }, [], 0);
}

function computersOf(plans: readonly LanePlan[]): number {
  return plans.reduce((sum, { computers, size }) => sum + (computers ?? size ?? 1), 0);
}

function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}
