import { parseArgs } from 'node:util';
import { type Config, ConfigError } from '../../../src/process/config.ts';
import { API_COMMAND, WORKER_COMMAND } from './roles.ts';

/** One process of the topology. */
export interface PlannedProcess {
  /** Unique; also the name of its log. */
  name: string;
  kind: 'api' | 'gateway' | 'worker';
  command: readonly string[];
  /** Null for a worker. */
  port: number | null;
  metricsPort: number;
}

/** What `npm run topology` runs. */
export interface TopologyPlan {
  processes: readonly PlannedProcess[];
  /** First of the ports that parts of the Temporal server use among themselves. */
  temporalInternalPort: number;
  /** Simulated computers, spread over all gateways. */
  computers: number;
  /** The database is a restored copy: reconcile it with the agents before serving anything. */
  afterRestore: boolean;
}

export const TOPOLOGY_HELP = `npm run topology -- [options]

The processes of docker-compose.yml without containers: PostgreSQL (embedded, or FLOTILLA_DATABASE_URL), a
Temporal server on it with its web UI (or FLOTILLA_TEMPORAL_ADDRESS), APIs, gateways and workers, each a process.
The Temporal server has the databases temporal and temporal_visibility, or <name>_temporal and <name>_temporal_visibility
where FLOTILLA_DATABASE_URL names another database than flotilla.

  --apis N                    on FLOTILLA_PORT and the ports after it (default 2)
  --gateways N                on the ports from --gateway-port on (default 2)
  --gateway-port PORT         (default FLOTILLA_PORT + 10)
  --activity-workers N        serve the queue fleet-activity (default 1)
  --schedule-workers N        serve fleet-schedule (default 1)
  --report-workers N          serve fleet-report (default 1)
  --temporal-internal-port P  first of 8 ports of the Temporal server's parts (default FLOTILLA_TEMPORAL_PORT + 20)
  --computers N               simulated computers (default 0)
  --after-restore             run npm run after-restore on a restored database before anything is served
  --help                      this text`;

const WORKERS = ['activity', 'schedule', 'report'] as const;
const MAX_PROCESSES = 50;
const MAX_COMPUTERS = 200_000;

/** @throws {ConfigError} naming every wrong option */
export function planTopology(args: readonly string[], config: Config): TopologyPlan {
  const { values, afterRestore } = parse(args);
  const problems: string[] = [];
  const whole = (name: string, fallback: number, min: number, max: number): number => {
    const text = values[name] ?? String(fallback);
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max)) problems.push(`--${name} must be a whole number from ${min} to ${max}`);
    return value;
  };
  const apis = whole('apis', 2, 1, MAX_PROCESSES);
  const gateways = whole('gateways', 2, 1, MAX_PROCESSES);
  const gatewayPort = whole('gateway-port', config.port + 10, 1, 65_535 - MAX_PROCESSES);
  const plan: TopologyPlan = {
    temporalInternalPort: whole('temporal-internal-port', config.temporalPort + 20, 1, 65_500),
    computers: whole('computers', 0, 0, MAX_COMPUTERS),
    afterRestore,
    processes: [
      ...numbered(apis, (i) => ({ kind: 'api', port: config.port + i, command: [...API_COMMAND, '--no-gateway'] })),
      ...numbered(gateways, (i) => ({
        kind: 'gateway',
        port: gatewayPort + i,
        command: [...API_COMMAND, '--gateway-only'],
      })),
      ...WORKERS.flatMap((queue) =>
        numbered(whole(`${queue}-workers`, 1, 1, MAX_PROCESSES), () => ({
          kind: 'worker',
          name: `${queue}-worker`,
          port: null,
          command: [...WORKER_COMMAND, '--queues', `fleet-${queue}`],
        })),
      ),
    ].map((one, index) => ({ ...one, metricsPort: config.metricsPort + index })),
  };
  if (problems.length > 0) throw new ConfigError(problems);
  return plan;
}

type Unnumbered = Omit<PlannedProcess, 'name' | 'metricsPort'> & { name?: string };

function numbered(count: number, make: (index: number) => Unnumbered): Omit<PlannedProcess, 'metricsPort'>[] {
  return Array.from({ length: count || 0 }, (_, index) => {
    const one = make(index);
    return { ...one, name: `${one.name ?? one.kind}-${index + 1}` };
  });
}

function parse(args: readonly string[]): { values: Record<string, string | undefined>; afterRestore: boolean } {
  const names = ['apis', 'gateways', 'gateway-port', 'temporal-internal-port', 'computers'];
  const all = [...names, ...WORKERS.map((queue) => `${queue}-workers`)];
  const texts: Record<string, { type: 'string' }> = Object.fromEntries(all.map((name) => [name, { type: 'string' }]));
  try {
    const options = { ...texts, 'after-restore': { type: 'boolean' as const } };
    const { 'after-restore': afterRestore = false, ...values } = parseArgs({ args: [...args], options }).values;
    return { values: values as Record<string, string | undefined>, afterRestore: afterRestore === true };
  } catch (error) {
    throw new ConfigError([error instanceof Error ? error.message : String(error)]);
  }
}
