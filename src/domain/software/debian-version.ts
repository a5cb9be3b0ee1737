/** Negative when `a` is older than `b`. Accepts malformed versions. @see docs/agent-protocol.md#packages */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [split(a), split(b)];
  return (
    left.epoch - right.epoch ||
    compareParts(left.upstream, right.upstream) ||
    compareParts(left.revision, right.revision)
  );
}

/** Removes the last dotted part: `6.8.0.45.45` becomes `6.8.0.45`. @see docs/api-conventions.md#kernels */
export function roundVersion(version: string): string {
  const dot = version.lastIndexOf('.');
  return dot > 0 ? version.slice(0, dot) : version;
}

interface Version {
  epoch: number;
  upstream: string;
  revision: string;
}

function split(version: string): Version {
  const [, epoch, rest] = /^(?:(\d{1,9}):)?(.*)$/s.exec(version)!;
  const dash = rest!.lastIndexOf('-');
  return {
    epoch: Number(epoch ?? 0),
    upstream: dash < 0 ? rest! : rest!.slice(0, dash),
    revision: dash < 0 ? '' : rest!.slice(dash + 1),
  };
}

function compareParts(a: string, b: string): number {
  const [left, right] = [runs(a), runs(b)];
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const difference =
      i % 2 === 0 ? compareText(left[i] ?? '', right[i] ?? '') : compareDigits(left[i] ?? '', right[i] ?? '');
    if (difference !== 0) return difference;
  }
  return 0;
}

function runs(text: string): string[] {
  const parts = text.match(/\d+|\D+/g) ?? [];
  return /^\d/.test(text) ? ['', ...parts] : parts;
}

function compareText(a: string, b: string): number {
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const difference = weight(a, i) - weight(b, i);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** A tilde sorts before the end of the text, letters before everything else. */
function weight(text: string, position: number): number {
  const character = text[position];
  if (character === undefined) return 0;
  if (character === '~') return -1;
  return /[A-Za-z]/.test(character) ? character.charCodeAt(0) : character.charCodeAt(0) + 65_536;
}

function compareDigits(a: string, b: string): number {
  const [left, right] = [a.replace(/^0+/, ''), b.replace(/^0+/, '')];
  if (left.length !== right.length) return left.length - right.length;
  return left < right ? -1 : left > right ? 1 : 0;
}
