import { visibleLine } from './text.ts';

/** How many operations have each status. */
export type Counts = Readonly<Record<string, number>>;

const FINAL = ['succeeded', 'failed', 'canceled'];

/** What shows how far a group of operations is. */
export interface Progress {
  update(counts: Counts): void;
  stop(): void;
}

/** A bar that moves on a terminal; elsewhere a line whenever something has changed. */
export async function openProgress(stderr: NodeJS.WriteStream): Promise<Progress> {
  return stderr.isTTY ? openBar(stderr) : openLines(stderr);
}

async function openBar(stream: NodeJS.WriteStream): Promise<Progress> {
  const { default: cliProgress } = await import('cli-progress');
  const bar = new cliProgress.SingleBar({
    stream,
    format: '{bar} {value}/{total}  {counts}  {rate}/s',
    barCompleteChar: '█',
    barIncompleteChar: '░',
    barsize: 20,
    hideCursor: true,
    gracefulExit: false,
  });
  const start = performance.now();
  bar.start(1, 0, { counts: 'waiting', rate: '0' });
  return {
    update(counts) {
      const ended = endedOf(counts);
      const seconds = (performance.now() - start) / 1000;
      bar.setTotal(totalOf(counts));
      bar.update(ended, { counts: describeCounts(counts), rate: (ended / Math.max(seconds, 1)).toFixed(1) });
    },
    stop: () => bar.stop(),
  };
}

function openLines(stream: NodeJS.WriteStream): Progress {
  let last = '';
  return {
    update(counts) {
      const line = `${endedOf(counts)} of ${totalOf(counts)} ended: ${describeCounts(counts)}`;
      if (line !== last) stream.write(`${line}\n`);
      last = line;
    },
    stop: () => undefined,
  };
}

/** Such as `3 succeeded, 1 failed`. */
export function describeCounts(counts: Counts): string {
  const ended = FINAL.filter((status) => counts[status]);
  const open = Object.keys(counts).filter((status) => counts[status] && !FINAL.includes(status));
  return visibleLine([...ended, ...open].map((status) => `${counts[status]} ${status}`).join(', '));
}

function endedOf(counts: Counts): number {
  return FINAL.reduce((sum, status) => sum + (counts[status] ?? 0), 0);
}

function totalOf(counts: Counts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
