/** An instant as the API writes it: UTC, whole seconds. */
export function wireTime(instant: Date): string;
export function wireTime(instant: Date | null): string | null;
export function wireTime(instant: Date | null): string | null {
  return instant === null ? null : `${instant.toISOString().slice(0, 19)}Z`;
}

/** An instant of a script or a script profile: UTC, six digits of a second, no zone. @see api-decisions 2.1 */
export function wireLocalTime(instant: Date): string {
  return `${instant.toISOString().slice(0, 23)}000`;
}
