/** UTC with whole seconds. */
export function formatTime(instant: Date): string;
export function formatTime(instant: Date | null): string | null;
export function formatTime(instant: Date | null): string | null {
  if (instant === null) return null;
  const year = instant.getUTCFullYear();
  if (year < 1000 || year > 9999) return `${instant.toISOString().slice(0, -5)}Z`;
  // A page has thousands of times, and this takes a third of the time of toISOString.
  const date = `${year}-${two(instant.getUTCMonth() + 1)}-${two(instant.getUTCDate())}`;
  return `${date}T${two(instant.getUTCHours())}:${two(instant.getUTCMinutes())}:${two(instant.getUTCSeconds())}Z`;
}

/** The next dates of a profile. */
export function toDatesResponse({ timezone, dates }: { timezone: string; dates: readonly Date[] }) {
  return { timezone, dates: dates.map((date) => formatTime(date)) };
}

function two(part: number): string {
  return part < 10 ? `0${part}` : `${part}`;
}

/** Script times: UTC with microseconds, without a zone. @see docs/api-conventions.md#names-values-and-times */
export function formatLocalTime(instant: Date): string {
  return `${instant.toISOString().slice(0, 23)}000`;
}
