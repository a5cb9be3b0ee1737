/** Former prefixes of paths and when they became former. @see docs/api-conventions.md#deprecation */
const ALIASES = [
  { prefix: '/security-profiles', current: '/usg-profiles', deprecatedAt: Date.UTC(2026, 3, 23) / 1000 },
] as const;

/**
 * The path as the document knows it, with the headers that an answer at a former path carries.
 *
 * @param path - below the version prefix
 * @see RFC 9745
 */
export function resolveAlias(path: string): { path: string; headers: Record<string, string> } {
  for (const { prefix, current, deprecatedAt } of ALIASES) {
    const rest = path.slice(prefix.length);
    if (!path.startsWith(prefix) || (rest !== '' && !rest.startsWith('/'))) continue;
    return { path: current + rest, headers: { Deprecation: `@${deprecatedAt}` } };
  }
  return { path, headers: {} };
}
