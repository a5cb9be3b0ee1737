/** Longer names are not treated as typing mistakes. */
const MAX_LENGTH = 64;
/** Shorter parts match too many names by chance. */
const MIN_PART = 3;

/**
 * The candidate that differs only in case, dashes and underscores; else the one with the fewest edits, at most one per
 * three characters; else the shortest that contains the name; null if none is near enough.
 */
export function nearestName(name: string, candidates: Iterable<string>): string | null {
  if (name.length > MAX_LENGTH) return null;
  const wanted = plain(name);
  let nearest: string | null = null;
  let whole: string | null = null;
  let fewest = Math.floor(wanted.length / 3) + 1;
  for (const candidate of candidates) {
    if (candidate.length > MAX_LENGTH) continue;
    const isPart = wanted.length >= MIN_PART && plain(candidate).includes(wanted);
    if (isPart && (whole === null || candidate.length < whole.length)) whole = candidate;
    const edits = editsBetween(wanted, plain(candidate));
    if (edits >= fewest) continue;
    nearest = candidate;
    fewest = edits;
  }
  return nearest ?? whole;
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[-_]/g, '');
}

function editsBetween(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = last[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1);
      row[j] = Math.min(replaced, last[j]! + 1, row[j - 1]! + 1);
      const areExchanged = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      if (areExchanged) row[j] = Math.min(row[j]!, beforeLast[j - 2]! + 1);
    }
    beforeLast = last;
    last = row;
  }
  return last[to.length]!;
}
