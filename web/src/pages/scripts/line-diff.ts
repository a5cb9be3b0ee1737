/** A line of a comparison, with its numbers in both texts; null where it does not exist. */
export interface DiffLine {
  kind: 'same' | 'removed' | 'added';
  text: string;
  before: number | null;
  after: number | null;
}

/** Lines without a change that are left out. */
export interface DiffGap {
  kind: 'gap';
  lines: number;
}

/** Beyond so many comparisons of lines, what differs is shown as removed and added as a whole. */
const MOST_COMPARISONS = 4_000_000;
const CONTEXT = 3;

/** What changed between two texts, line by line. */
export function diffLines(before: string, after: string): DiffLine[] {
  const [old, now] = [before.split('\n'), after.split('\n')];
  const shortest = Math.min(old.length, now.length);
  let head = 0;
  while (head < shortest && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < shortest - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail++;
  const middle = changesOf(old.slice(head, old.length - tail), now.slice(head, now.length - tail));
  const lines: Array<Pick<DiffLine, 'kind' | 'text'>> = [
    ...old.slice(0, head).map((text) => ({ kind: 'same' as const, text })),
    ...middle,
    ...old.slice(old.length - tail).map((text) => ({ kind: 'same' as const, text })),
  ];
  let [oldNumber, newNumber] = [0, 0];
  return lines.map(({ kind, text }) => ({
    kind,
    text,
    before: kind === 'added' ? null : ++oldNumber,
    after: kind === 'removed' ? null : ++newNumber,
  }));
}

/** The changed lines with some around them; the others as gaps. */
export function withGaps(lines: readonly DiffLine[]): Array<DiffLine | DiffGap> {
  const isNear = lines.map(() => false);
  for (const [place, { kind }] of lines.entries()) {
    if (kind === 'same') continue;
    isNear.fill(true, Math.max(0, place - CONTEXT), place + CONTEXT + 1);
  }
  const shown: Array<DiffLine | DiffGap> = [];
  for (const [place, line] of lines.entries()) {
    const last = shown.at(-1);
    if (isNear[place]) shown.push(line);
    else if (last?.kind === 'gap') last.lines++;
    else shown.push({ kind: 'gap', lines: 1 });
  }
  return shown;
}

/** By the longest common subsequence. */
function changesOf(old: readonly string[], now: readonly string[]): Array<Pick<DiffLine, 'kind' | 'text'>> {
  const removed = (text: string) => ({ kind: 'removed' as const, text });
  const added = (text: string) => ({ kind: 'added' as const, text });
  if (old.length * now.length > MOST_COMPARISONS) return [...old.map(removed), ...now.map(added)];
  const width = now.length + 1;
  const common = new Uint32Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      common[i * width + j] =
        old[i] === now[j]
          ? common[(i + 1) * width + j + 1]! + 1
          : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
    }
  }
  const lines: Array<Pick<DiffLine, 'kind' | 'text'>> = [];
  let [i, j] = [0, 0];
  while (i < old.length && j < now.length) {
    if (old[i] === now[j]) {
      lines.push({ kind: 'same', text: old[i]! });
      i++;
      j++;
    } else if (common[(i + 1) * width + j]! >= common[i * width + j + 1]!) lines.push(removed(old[i++]!));
    else lines.push(added(now[j++]!));
  }
  return [...lines, ...old.slice(i).map(removed), ...now.slice(j).map(added)];
}
