/** The Temporal server and its web UI, the same everywhere: what `program/go.mod` pins and docker-compose.yml names. */
export const TEMPORAL_SERVER_VERSION = '1.32.0';
export const TEMPORAL_UI_VERSION = '2.54.1';

/** The oldest server whose SQLite file can still be used. */
export const OLDEST_DATA_VERSION = '1.32.0';

/** The time-skipping test server that is downloaded or fetched as jars (`test-server.pom.xml` pins the same). */
export const TEST_SERVER_VERSION = '1.38.0';

/** Negative, zero or positive as `a` is older than, equal to or newer than `b`; both dotted numbers. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split('.').map(Number));
  for (let i = 0; i < 3; i += 1) {
    const difference = (left?.[i] ?? 0) - (right?.[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
