import { join } from 'node:path';
import { findFreePort } from '../../src/stack/ports.ts';
import { startLocalTemporal } from '../../temporal/server/local-temporal.ts';
import { resolveTemporalCli } from '../../temporal/server/temporal-cli.ts';
import { resolveTestServer } from '../../temporal/server/test-server.ts';
import type { RunService } from './run-services.ts';

const report = (message: string): void => console.log(`[temporal] ${message}`);

/** The Temporal servers of a test run. `directory` gets the log. `onStart` learns process ids, for an emergency end. */
export function temporalServices(directory: string, onStart: (pid: number) => void): Record<string, RunService> {
  return {
    'temporal-dev-server': {
      async start() {
        const cli = await resolveTemporalCli({ bin: process.env['FLOTILLA_TEMPORAL_BIN'] || null, report });
        const server = await startLocalTemporal({
          cli,
          port: await findFreePort(),
          httpPort: await findFreePort(),
          uiPort: null,
          databaseFile: null,
          namespace: 'flotilla-test',
          logFile: join(directory, 'temporal.log'),
        });
        onStart(server.pid);
        return { answer: { address: server.address }, stop: () => server.stop() };
      },
    },
    'temporal-test-server': {
      async start() {
        const path = await resolveTestServer({ bin: process.env['FLOTILLA_TEST_SERVER_BIN'] || null, report });
        return { answer: { path } };
      },
    },
  };
}
