import { join } from 'node:path';
import { type Config, localHost } from '../../../src/process/config.ts';
import type { Certificates } from '../../temporal-server/certificates.ts';
import { resolveTemporal } from '../../temporal-server/programs.ts';
import { INTERNAL_PORTS, type TemporalPorts } from '../../temporal-server/server-config.ts';
import { DATABASE_PREPARATION, prepareAndReport, repairRestored } from '../bring-up.ts';
import type { DataDirectory } from '../data-directory.ts';
import type { FirstAdministrator, prepareDatabase } from '../database/prepare-database.ts';
import { checkWantedPorts, LOOPBACK, type WantedPort } from '../preflight.ts';
import { loadInChild } from '../processes/child-call.ts';
import { runScript } from '../processes/run-script.ts';
import { createServiceGroup, type ServiceGroup, type StopShare } from '../processes/service-group.ts';
import { NO_UI, postgresService, processService, type ServiceContext, uiAccess } from '../processes/services.ts';
import type { Supervised } from '../processes/supervise.ts';
import { clearUnshownPassword, type StackSecrets } from '../secrets.ts';
import { prepareWebPage } from '../web/prepare-page.ts';
import { type OwnTemporal, openStack, ownTemporal, type StackOptions, stopStack } from '../stack.ts';
import { COMMANDS, processEnvironment, resolveDataDir } from './roles.ts';
import type { PlannedProcess, TopologyPlan } from './topology-plan.ts';
import { temporalRole, temporalStore, topologyTemporalService } from './topology-temporal.ts';

export interface StartedTopology {
  dataDir: string;
  apis: readonly string[];
  gateways: readonly string[];
  temporalAddress: string;
  /** Null where the Temporal server is not ours. */
  temporal: OwnTemporal | null;
  administrator: FirstAdministrator | null;
  /** Call once the user saw the administrator's password. */
  administratorShown(): Promise<void>;
}

/** Limit for an ordered stop; workers in containers may take longer for running activities. */
export const TOPOLOGY_STOP_MS = 45_000;
const STOP_ORDER: readonly StopShare[] = [
  { name: 'fleet', limitMs: 2000 },
  { name: 'servers', limitMs: 6000 },
  { name: 'workers', limitMs: 20_000 },
  { name: 'Temporal', limitMs: 8000 },
  { name: 'PostgreSQL', limitMs: 4000 },
];

interface TopologyStart {
  context: ServiceContext;
  group: ServiceGroup;
  plan: TopologyPlan;
  secrets: StackSecrets;
  env: Record<string, string | undefined>;
  databaseUrl: string;
  temporalAddress: string;
  certificates: Certificates | null;
}

/** The topology of docker-compose.yml as processes of this machine. See {@link TOPOLOGY_HELP}. */
export function createTopology(options: StackOptions & { plan: TopologyPlan }): Supervised<StartedTopology> {
  const { config, plan } = options;
  const group = createServiceGroup(STOP_ORDER, TOPOLOGY_STOP_MS);
  const cleanups: (() => void)[] = [];

  async function start(): Promise<StartedTopology> {
    const { context, secrets, backends } = await openStack(options, group, cleanups, {
      name: 'topology',
      dataDir: join(resolveDataDir(config), 'topology'),
      checkPorts: () => checkWantedPorts(wantedPorts(config, plan)),
      logFiles: (data) => logFiles(data, plan),
    });
    const { data } = context;
    const { certificates, temporalAddress } = backends;
    const codecUrl = codecUrlOf(config, plan);
    const temporal = certificates && (await ownTemporal(certificates, { config, data, secrets, codecUrl }));
    const env = {
      ...processEnvironment(options.env, config, data, secrets, backends),
      FLOTILLA_EMBEDDED: 'false',
    };
    const administrator = await bringUp({ context, group, plan, secrets, env, ...backends });
    const urls = (kind: PlannedProcess['kind']) => processesOf(plan, kind).map((one) => urlOf(config, one));
    return {
      dataDir: data.root,
      apis: urls('api'),
      gateways: urls('gateway'),
      temporalAddress,
      temporal,
      administrator,
      administratorShown: () => clearUnshownPassword(secrets, data.secrets),
    };
  }

  return {
    start,
    failed: group.failed,
    stop: () => stopStack(group, cleanups),
  };
}

/** Order of a deploy: servers, schema, namespace, repair after a restore, workers, current build, API, gateways. */
async function bringUp(bringing: TopologyStart): Promise<FirstAdministrator | null> {
  const { context, group, plan, secrets, env, databaseUrl } = bringing;
  const { config, data, report } = context;
  const script = (file: string, log: string) => runScript([file], env, data.log(log), group.signal);
  const page = prepareWebPage(context, group.signal);
  const bundle = script('workers/build-bundle.ts', 'bundle');
  bundle.catch(() => undefined);
  const childOptions = { env, logFile: data.log('prepare-database'), signal: group.signal };
  const prepare = loadInChild<typeof prepareDatabase>(...DATABASE_PREPARATION, childOptions);
  if (!config.databaseUrl) await group.launch(postgresService(context, secrets, [temporalRole(secrets)]));
  report('PostgreSQL runs');
  const temporal = startTemporal(bringing);
  temporal.catch(() => undefined);
  const administrator = await prepareAndReport(bringing, prepare, databaseUrl, {
    ...config,
    simulatedComputers: plan.computers,
  });
  await temporal;
  report('Temporal runs');
  await script('temporal/bootstrap-main.ts', 'bootstrap');
  if (plan.afterRestore) await repairRestored(bringing);
  await Promise.all([bundle, page]);
  await Promise.all([
    launchAll(bringing, ['worker'], 'workers').then(() =>
      script('workers/set-current-version.ts', 'set-current-version'),
    ),
    launchAll(bringing, ['api', 'gateway'], 'servers'),
  ]);
  report('APIs, gateways and workers run');
  if (plan.computers > 0) await launchFleet(bringing);
  return administrator;
}

async function startTemporal(bringing: TopologyStart): Promise<void> {
  const { context, group, plan, secrets, databaseUrl, certificates } = bringing;
  const { config, env, report } = context;
  if (!certificates) return;
  // Checks the database URL before fetching the programs, which may take minutes.
  const role = temporalRole(secrets);
  const beside = temporalStore(databaseUrl);
  // In the embedded PostgreSQL its databases exist already, with their own role.
  const store = config.databaseUrl ? beside : { ...beside, user: role.name, password: role.password };
  const { signal } = group;
  const programs = await resolveTemporal({ bin: config.temporalServerDir, report, env, signal });
  if (!programs.hasUi) report(NO_UI);
  const ports: TemporalPorts = {
    host: LOOPBACK,
    frontend: config.temporalPort,
    internal: Array.from({ length: INTERNAL_PORTS }, (_, place) => plan.temporalInternalPort + place),
    ui: config.temporalUiPort,
  };
  const ui = uiAccess(codecUrlOf(config, plan), config, secrets);
  const makeIn = config.databaseUrl;
  await group.launch(topologyTemporalService(context, { makeIn, store, programs, ports, certificates, ui, signal }));
}

function codecUrlOf(config: Config, plan: TopologyPlan): string {
  return `${urlOf(config, processesOf(plan, 'api')[0]!)}/codec`;
}

async function launchAll(
  bringing: TopologyStart,
  kinds: readonly PlannedProcess['kind'][],
  stage: string,
): Promise<void> {
  const { context, group, plan, env } = bringing;
  const chosen = plan.processes.filter(({ kind }) => kinds.includes(kind));
  await Promise.all(
    chosen.map(({ name, command, port, metricsPort }) => {
      const own = {
        ...env,
        FLOTILLA_METRICS_PORT: String(metricsPort),
        ...(port !== null && { FLOTILLA_PORT: String(port) }),
      };
      return group.launch(processService(context, { name, log: name, command, env: own }), stage);
    }),
  );
}

/** One process of simulated computers, spread over the gateways as by a load balancer. */
async function launchFleet({ context, group, plan, env }: TopologyStart): Promise<void> {
  const { config, data } = context;
  const gateways = processesOf(plan, 'gateway').map((one) => urlOf(config, one));
  const command = COMMANDS.fleet({ ...config, simulatedComputers: plan.computers }, data, gateways.join(','));
  await group.launch(processService(context, { name: 'fleet', log: 'fleet', command, env }));
}

function wantedPorts(config: Config, plan: TopologyPlan): WantedPort[] {
  const served = plan.processes.flatMap(({ name, port }) =>
    port === null ? [] : [{ setting: name, host: config.host, port }],
  );
  const internal = Array.from({ length: INTERNAL_PORTS }, (_, index) => ({
    setting: '--temporal-internal-port',
    host: LOOPBACK,
    port: plan.temporalInternalPort + index,
  }));
  const temporal = [
    { setting: 'FLOTILLA_TEMPORAL_PORT', host: LOOPBACK, port: config.temporalPort },
    { setting: 'FLOTILLA_TEMPORAL_UI_PORT', host: LOOPBACK, port: config.temporalUiPort },
    ...internal,
  ];
  return [
    ...served,
    ...(config.databaseUrl ? [] : [{ setting: 'FLOTILLA_DATABASE_PORT', host: LOOPBACK, port: config.databasePort }]),
    ...(config.temporalAddress ? [] : temporal),
  ];
}

function processesOf(plan: TopologyPlan, kind: PlannedProcess['kind']): PlannedProcess[] {
  return plan.processes.filter((one) => one.kind === kind);
}

function urlOf(config: Config, { port }: PlannedProcess): string {
  return `http://${localHost(config.host)}:${port}`;
}

function logFiles(data: DataDirectory, plan: TopologyPlan): ReadonlyMap<string, string> {
  const ours = plan.processes.map(({ name }): [string, string] => [name, data.log(name)]);
  const others = ['postgres', 'temporal', 'fleet'].map((name): [string, string] => [name, data.log(name)]);
  return new Map([...ours, ...others]);
}
