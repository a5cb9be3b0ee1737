import { dirname, join } from 'node:path';
import { findFreePorts } from '../../../tools/stack/processes/ports.ts';
import { LOCAL_DYNAMIC_CONFIG } from '../../../tools/temporal-server/dynamic-config.ts';
import { resolveTemporal, type TemporalPrograms as ServerPrograms } from '../../../tools/temporal-server/programs.ts';
import { startTemporal } from '../../../tools/temporal-server/temporal-server.ts';
import { resolveTestServer } from '../../../tools/temporal-server/test-server.ts';
import type { RunService } from '../stack/run-services.ts';

const report = (message: string): void => console.log(`[temporal] ${message}`);

/** The programs that tests use; a rejection is for the test that needs the program. */
export interface TemporalPrograms {
  server: Promise<ServerPrograms>;
  testServer: Promise<string>;
}

/**
 * Finds the Temporal programs. Resolves when both searches are over: the first run of a machine may build one, which no
 * time limit of a test allows for.
 */
export async function findTemporalPrograms(): Promise<TemporalPrograms> {
  const server = resolveTemporal({ bin: process.env['FLOTILLA_TEMPORAL_SERVER_DIR'] || null, report });
  const testServer = resolveTestServer({ bin: process.env['FLOTILLA_TEST_SERVER_BIN'] || null, report });
  for (const result of await Promise.allSettled([server, testServer])) {
    if (result.status === 'rejected') report(String(result.reason));
  }
  return { server, testServer };
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
        const [port = 0, ...internal] = await findFreePorts(9);
        const server = await startTemporal({
          programs: await programs.server,
          store: { sqlite: null },
          ports: { host: '127.0.0.1', frontend: port, internal, ui: null },
          namespace: 'flotilla-test',
          // Tests reach it in many ways; who may is tested on a stack.
          certificates: null,
          dynamicConfig: LOCAL_DYNAMIC_CONFIG,
          directory: join(directory, 'temporal'),
          logFile: join(directory, 'temporal.log'),
          onSpawn: onStart,
        });
        return { answer: { address: `127.0.0.1:${port}` }, stop: () => server.stop() };
      },
    },
    'temporal-server-programs': {
      start: async () => ({ answer: { directory: dirname((await programs.server).server) } }),
    },
    'temporal-test-server': {
      start: async () => ({ answer: { path: await programs.testServer } }),
    },
  };
}
