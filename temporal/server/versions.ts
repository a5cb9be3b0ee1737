/** The Temporal CLI that is downloaded or built (`go.mod` pins the same), and the oldest that is accepted. */
export const TEMPORAL_CLI_VERSION = '1.5.1';

/** The official server on PostgreSQL and its web UI that are built (`official-server/go.mod` pins the same). */
export const TEMPORAL_SERVER_VERSION = '1.32.0';
export const TEMPORAL_UI_VERSION = '2.54.1';

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

/** The versions of a CLI and of the server inside it, from what `temporal --version` prints; null when it is none. */
export function parseCliVersion(output: string): { cli: string; server: string } | null {
  const match = /^temporal version (\d+\.\d+\.\d+)\S*(?: \(Server (\d+\.\d+\.\d+))?/m.exec(output);
  return match?.[1] ? { cli: match[1], server: match[2] ?? '0.0.0' } : null;
}
