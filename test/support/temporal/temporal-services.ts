import { dirname, join } from 'node:path';
import { findFreePorts } from '../../../tools/stack/processes/ports.ts';
import { LOCAL_DYNAMIC_CONFIG } from '../../../tools/temporal-server/dynamic-config.ts';
import { resolveTemporal, type TemporalPrograms } from '../../../tools/temporal-server/programs.ts';
import { startTemporal } from '../../../tools/temporal-server/temporal-server.ts';
import { resolveTestServer } from '../../../tools/temporal-server/test-server.ts';
import type { RunService } from '../stack/global-setup.ts';

const report = (message: string): void => console.log(`[temporal] ${message}`);

/** Finds the programs of the Temporal server; the first run of a machine may build them. */
export function findServerPrograms(): Promise<TemporalPrograms> {
  return resolveTemporal({ bin: process.env['FLOTILLA_TEMPORAL_SERVER_DIR'] || null, report });
}

/** The Temporal servers of a test run. `directory` gets the log. `onStart` gets process ids, for an emergency end. */
export function temporalServices(directory: string, onStart: (pid: number) => void): Record<string, RunService> {
  return {
    'temporal-server': {
      async start() {
        const programs = await findServerPrograms();
        const [port = 0, ...internal] = await findFreePorts(9);
        const server = await startTemporal({
          programs,
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
      start: async () => ({ answer: { directory: dirname((await findServerPrograms()).server) } }),
    },
    'temporal-test-server': {
      start: async () => ({
        answer: { path: await resolveTestServer({ bin: process.env['FLOTILLA_TEST_SERVER_BIN'] || null, report }) },
      }),
    },
  };
}
