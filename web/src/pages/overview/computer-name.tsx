import type { PendingComputer } from './pending.ts';

/** The title of a computer that waits, and its host name where that is another. */
export function ComputerName({ computer: { title, hostname } }: { computer: PendingComputer }) {
  return (
    <>
      <bdi>{title}</bdi> {hostname !== title && <bdi className="quiet">{hostname}</bdi>}
    </>
  );
}
