import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isPortFree } from '../../stack/processes/ports.ts';
import type { Resources } from '../harness/resources.ts';
import { waitFor } from '../harness/wait.ts';
import { PRODUCT_ROLES, productRoles } from './roles.ts';
import { COMMON_SETTINGS, type Launched, launch, letMeasure, operated, type Stack, serves } from './stack.ts';

const SERVERS = 2;
const OFFSETS = { gateway: 10, temporal: 20, temporalUi: 21, database: 22, metrics: 23, temporalInternal: 40 } as const;
const PORTS = 60;
/** The official server is built at a machine's first start; its databases are created at every start. */
const READY_LIMIT_MS = 900_000;

/**
 * Starts `npm run topology` on this machine: two APIs, two gateways, three workers and the official Temporal server on
 * PostgreSQL.
 * @param env - further settings
 */
export async function startTopology(
  resources: Resources,
  root: string,
  dataDir: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Stack> {
  const first = await chooseFirstPort();
  const settings = {
    FLOTILLA_PORT: String(first),
    FLOTILLA_TEMPORAL_PORT: String(first + OFFSETS.temporal),
    FLOTILLA_TEMPORAL_UI_PORT: String(first + OFFSETS.temporalUi),
    FLOTILLA_DATABASE_PORT: String(first + OFFSETS.database),
    FLOTILLA_METRICS_PORT: String(first + OFFSETS.metrics),
    FLOTILLA_DATA_DIR: dataDir,
    ...COMMON_SETTINGS,
    ...env,
  };
  mkdirSync(dataDir, { recursive: true, mode: 0o711 });
  const several = (offset: number) => Array.from({ length: SERVERS }, (_, i) => first + offset + i);
  const [apiPorts, agentPorts] = [several(0), several(OFFSETS.gateway)];
  const launched = launch(
    resources,
    root,
    [
      'tools/stack/topology/topology-main.ts',
      ...['--apis', String(SERVERS), '--gateways', String(SERVERS)],
      ...['--gateway-port', String(first + OFFSETS.gateway)],
      ...['--temporal-internal-port', String(first + OFFSETS.temporalInternal)],
    ],
    `${dataDir}.log`,
    settings,
  );
  return {
    port: first,
    apiPorts,
    agentPorts,
    dataDir: join(dataDir, 'topology'),
    ...operated(launched),
    roles: productRoles(launched.child, PRODUCT_ROLES),
    async ready() {
      // The ports respond before the build is current; until then no workflow runs.
      await announced(launched);
      for (const port of [...apiPorts, ...agentPorts]) await serves(launched, port);
      await letMeasure(join(dataDir, 'topology'), launched.child);
    },
  };
}

async function announced({ child, logFile }: Launched): Promise<void> {
  const looked = () => {
    const text = readFileSync(logFile, 'utf8');
    if (child.exitCode !== null)
      throw new Error(`the topology ended with code ${child.exitCode}:\n${text.slice(-4000)}`);
    return text.includes('Ctrl-C stops everything') ? true : null;
  };
  await waitFor('the topology', looked, { everyMs: 100, limitMs: READY_LIMIT_MS });
}

/** A block of free ports below the range that the system uses for outgoing connections. */
async function chooseFirstPort(): Promise<number> {
  for (;;) {
    const first = 20_000 + Math.floor(Math.random() * 140) * PORTS;
    const ports = Array.from({ length: PORTS }, (_, index) => first + index);
    const free = await Promise.all(ports.map((port) => isPortFree('127.0.0.1', port)));
    if (free.every(Boolean)) return first;
  }
}
