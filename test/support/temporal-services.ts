import { dirname, join } from 'node:path';
import { startLocalTemporal } from '../../temporal/server/local-temporal.ts';
import { resolveOfficialServer } from '../../temporal/server/official-server.ts';
import { resolveTemporalCli } from '../../temporal/server/temporal-cli.ts';
import { resolveTestServer } from '../../temporal/server/test-server.ts';
import { freePorts } from './ports.ts';
import type { RunService } from './run-services.ts';

const report = (message: string): void => console.log(`[temporal] ${message}`);

/** The programs that tests use; a rejection is for the test that needs the program. */
export interface TemporalPrograms {
  cli: Promise<string>;
  testServer: Promise<string>;
  /** Directory of the official server's programs. */
  officialServer: Promise<string>;
}

/**
 * Finds the Temporal programs. Resolves when both searches are over: the first run of a machine may build one, which no
 * time limit of a test allows for.
 */
export async function findTemporalPrograms(): Promise<TemporalPrograms> {
  const cli = resolveTemporalCli({ bin: process.env['FLOTILLA_TEMPORAL_BIN'] || null, report });
  const testServer = resolveTestServer({ bin: process.env['FLOTILLA_TEST_SERVER_BIN'] || null, report });
  const serverDir = process.env['FLOTILLA_TEMPORAL_SERVER_DIR'] || null;
  const officialServer = resolveOfficialServer({ bin: serverDir, report }).then(({ server }) => dirname(server));
  for (const result of await Promise.allSettled([cli, testServer, officialServer])) {
    if (result.status === 'rejected') report(String(result.reason));
  }
  return { cli, testServer, officialServer };
}

/** The Temporal servers of a test run. `directory` gets the log. `onStart` learns process ids, for an emergency end. */
export function temporalServices(
  programs: TemporalPrograms,
  directory: string,
  onStart: (pid: number) => void,
): Record<string, RunService> {
  return {
    'temporal-dev-server': {
      async start() {
        const [port = 0, httpPort = 0] = await freePorts(2);
        const server = await startLocalTemporal({
          cli: await programs.cli,
          port,
          httpPort,
          uiPort: null,
          databaseFile: null,
          namespace: 'flotilla-test',
          logFile: join(directory, 'temporal.log'),
          onSpawn: onStart,
        });
        return { answer: { address: server.address }, stop: () => server.stop() };
      },
    },
    'temporal-official-server': {
      start: async () => ({ answer: { directory: await programs.officialServer } }),
    },
    'temporal-test-server': {
      start: async () => ({ answer: { path: await programs.testServer } }),
    },
  };
}
