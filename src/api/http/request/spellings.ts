const TRUE = new Set(['true', '1', 'yes']);
const FALSE = new Set(['false', '0', 'no']);

/** What is wrong with a text that {@link readBoolean} cannot read. */
export const NO_BOOLEAN = 'must be true or false';

/** A boolean in any of its six spellings as `true` or `false`; null for another text. */
export function readBoolean(value: string): 'true' | 'false' | null {
  const lower = value.toLowerCase();
  if (TRUE.has(lower)) return 'true';
  return FALSE.has(lower) ? 'false' : null;
}
