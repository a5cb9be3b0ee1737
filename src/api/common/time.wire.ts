/** An instant as the API writes it: UTC, whole seconds. */
export function wireTime(instant: Date): string;
export function wireTime(instant: Date | null): string | null;
export function wireTime(instant: Date | null): string | null {
  if (instant === null) return null;
  const year = instant.getUTCFullYear();
  if (year < 1000 || year > 9999) return `${instant.toISOString().slice(0, -5)}Z`;
  // A page has thousands of moments: part by part they take a third of the time of toISOString.
  const date = `${year}-${two(instant.getUTCMonth() + 1)}-${two(instant.getUTCDate())}`;
  return `${date}T${two(instant.getUTCHours())}:${two(instant.getUTCMinutes())}:${two(instant.getUTCSeconds())}Z`;
}

function two(part: number): string {
  return part < 10 ? `0${part}` : `${part}`;
}

/** An instant of a script or a script profile: UTC, six digits of a second, no zone. @see docs/api-conventions.md#names-values-and-times */
export function wireLocalTime(instant: Date): string {
  return `${instant.toISOString().slice(0, 23)}000`;
}
