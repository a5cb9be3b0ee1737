import { ApiError } from '@flotilla/client';

/** The message of the server about a field of the body, or a part of it: `snaps` also has that of `snaps.0.name`. */
export function bodyError(error: unknown, field: string, last = ''): string | null {
  if (!(error instanceof ApiError)) return null;
  const path = `body.${field}`;
  const isHere = (at: string) => at === path || (at.startsWith(`${path}.`) && at.endsWith(last));
  return error.details.find((detail) => detail.path !== undefined && isHere(detail.path))?.message ?? null;
}

/** Fields of bodies that the forms show the messages of. */
const FIELDS = [
  ...['snaps', 'package_ids', 'kernel_package_id', 'pids', 'username', 'time_limit'],
  ...['tags', 'key', 'value', 'access_group', 'deliver_after', 'deliver_delay_window', 'after'],
];

/** Whether all of an error is about fields of the form, which show it. */
export function isAtFields(error: unknown): boolean {
  if (!(error instanceof ApiError) || error.details.length === 0) return false;
  return error.details.every(({ path }) => FIELDS.includes(path?.split('.')[1] ?? ''));
}
