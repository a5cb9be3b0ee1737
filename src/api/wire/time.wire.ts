/** An instant as the API writes it: UTC, whole seconds. */
export function wireTime(instant: Date): string;
export function wireTime(instant: Date | null): string | null;
export function wireTime(instant: Date | null): string | null {
  return instant === null ? null : `${instant.toISOString().slice(0, 19)}Z`;
}
