/** The day when security profiles were renamed to USG profiles, as a Unix time. */
const RENAMED_AT = Date.UTC(2026, 3, 23) / 1000;

/** Header of responses to requests that use the old name of USG profiles. @see RFC 9745 */
export const DEPRECATION: Readonly<Record<string, string>> = { Deprecation: `@${RENAMED_AT}` };

const OLD_PATH = /^\/security-profiles(?=\/|$)/;

/**
 * The path in the document for a path that may be deprecated, with the headers of its response.
 * @param path - below the version prefix
 * @see docs/api-conventions.md#deprecation
 */
export function resolveDeprecatedPath(path: string): { path: string; headers: Readonly<Record<string, string>> } {
  if (!OLD_PATH.test(path)) return { path, headers: {} };
  return { path: path.replace(OLD_PATH, '/usg-profiles'), headers: DEPRECATION };
}
