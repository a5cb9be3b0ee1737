/** The Temporal server rejects summaries longer than 400 bytes after encryption. */
const SUMMARY_BYTES = 200;

/** Truncates a summary to the limit of the Temporal server. */
export function shortSummary(text: string): string {
  let bytes = 0;
  let short = '';
  for (const character of text) {
    bytes += utf8Length(character.codePointAt(0)!);
    if (bytes > SUMMARY_BYTES) return `${short}…`;
    short += character;
  }
  return short;
}

export function computersText(count: number): string {
  return count === 1 ? '1 computer' : `${count} computers`;
}

function utf8Length(codePoint: number): number {
  if (codePoint < 0x80) return 1;
  if (codePoint < 0x800) return 2;
  return codePoint < 0x10000 ? 3 : 4;
}
