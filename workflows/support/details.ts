import type { LaneProgress } from '../contracts/activities.ts';

const NAMED = 3;

/** What an operator reads on a running workflow, for example "8 of 10 computers done; waiting for web-3, db-1". */
export function progressLine(done: number, total: number, waitingFor: readonly string[]): string {
  const unit = total === 1 ? 'computer' : 'computers';
  const line = `${grouped(done)} of ${grouped(total)} ${unit} done`;
  const open = total - done;
  if (open <= 0 || waitingFor.length === 0) return line;
  const named = waitingFor.slice(0, NAMED);
  const more = open - named.length;
  return `${line}; waiting for ${named.join(', ')}${more > 0 ? ` and ${grouped(more)} more` : ''}`;
}

/** The line of one lane. */
export function laneLine(progress: LaneProgress): string {
  const done = progress.succeeded + progress.failed + progress.canceled;
  return progressLine(done, done + progress.open, progress.waitingFor);
}

function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}
