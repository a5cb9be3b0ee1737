import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Config } from '../../src/process/config.ts';
import { type Certificates, ensureCertificates, SERVER_NAME } from '../temporal-server/certificates.ts';
import { nameBundle, type WorkflowBundle } from '../../workers/process/workflow-bundle.ts';
import { bringUp } from './bring-up.ts';
import { nameCode } from './code/compiled-code.ts';
import { prepareCode } from './code/prepare-code.ts';
import { type DataDirectory, openDataDirectory, type Preparation, prepareDirectory } from './data-directory.ts';
import type { FirstAdministrator } from './database/prepare-database.ts';
import { checkPorts, LOOPBACK } from './preflight.ts';
import { followLogs } from './processes/log-follower.ts';
import { createRunningRecord } from './processes/running-file.ts';
import { createServiceGroup, type ServiceGroup, type StopShare } from './processes/service-group.ts';
import { type ServiceContext, uiAccess, uiAddress } from './processes/services.ts';
import { clearUnshownPassword, type StackSecrets } from './secrets.ts';
import { type Backends, embeddedDatabaseUrl, localUrl, processEnvironment, resolveDataDir } from './topology/roles.ts';

export interface StackOptions {
  config: Config;
  env: Record<string, string | undefined>;
  report(message: string): void;
  /** The data directory is a restored copy: reconcile it with the agents before serving them. */
  afterRestore?: boolean;
}

/** The embedded stack of one process. */
export interface Stack {
  /**
   * Starts everything. Resolves when an action would succeed.
   * @throws {StackError} with the one reason why it cannot run
   */
  start(): Promise<StartedStack>;
  /** Rejects when a part keeps failing; never resolves. */
  readonly failed: Promise<never>;
  /** Stops everything in order within 15 s, at any moment. Idempotent. */
  stop(): Promise<void>;
}

export interface StartedStack {
  dataDir: string;
  /** Null with an external Temporal server. */
  temporal: OwnTemporal | null;
  administrator: FirstAdministrator | null;
  /** Call once the user saw the administrator's password. */
  administratorShown(): Promise<void>;
}

/** Access of a stack's owner to its Temporal server. */
export interface OwnTemporal {
  /** Address of the web UI, with the token. */
  ui: string;
  uiFile: string;
  /** File for `temporal --config-file`. */
  cliProfile: string;
}

/** Everything has to stop within 15 s; the rest is for the process itself. */
const STOP_LIMIT_MS = 14_000;
const STOP_ORDER: readonly StopShare[] = [
  { name: 'fleet', limitMs: 1500 },
  { name: 'API', limitMs: 3000 },
  { name: 'worker', limitMs: 5000 },
  { name: 'Temporal', limitMs: 3300 },
  { name: 'PostgreSQL', limitMs: 1200 },
];

/** See {@link Stack}. */
export function createStack(options: StackOptions): Stack {
  const { config, env, afterRestore = false } = options;
  const group = createServiceGroup(STOP_ORDER, STOP_LIMIT_MS);
  const cleanups: (() => void)[] = [];

  async function start(): Promise<StartedStack> {
    const { context, secrets, backends, workflows } = await openStack(options, group, cleanups, {
      name: 'Flotilla',
      dataDir: resolveDataDir(config),
      checkPorts: () => checkPorts(config),
      logFiles,
    });
    const { data } = context;
    const temporal = backends.certificates && (await ownTemporal(backends.certificates, { config, data, secrets }));
    const administrator = await bringUp({
      context,
      group,
      secrets,
      env: processEnvironment(env, config, data, secrets, backends),
      workflows,
      afterRestore,
      ...backends,
    });
    return {
      dataDir: data.root,
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

interface OpenStack {
  context: ServiceContext;
  secrets: StackSecrets;
  backends: Backends;
  workflows: WorkflowBundle;
}

/**
 * Takes the data directory, reads what a start needs, and compiles the code.
 * @param cleanups - gets what has to be done after the stop
 * @throws {StackError} when the directory or a port is taken
 */
export async function openStack(
  { config, env, report }: Pick<StackOptions, 'config' | 'env' | 'report'>,
  group: ServiceGroup,
  cleanups: (() => void)[],
  of: Pick<Preparation, 'name' | 'checkPorts'> & {
    dataDir: string;
    logFiles(data: DataDirectory): ReadonlyMap<string, string>;
  },
): Promise<OpenStack> {
  const data = await openDataDirectory(of.dataDir);
  cleanups.push(data.release);
  const secrets = await prepareDirectory(data, { name: of.name, report, checkPorts: of.checkPorts });
  group.signal.throwIfAborted();
  const record = createRunningRecord(data.running);
  cleanups.push(
    record.remove,
    followLogs(of.logFiles(data), (name, text) => report(`${name}: ${text}`)),
  );
  const backends = {
    databaseUrl: config.databaseUrl ?? embeddedDatabaseUrl(config, secrets),
    temporalAddress: config.temporalAddress ?? `${LOOPBACK}:${config.temporalPort}`,
    certificates: config.temporalAddress ? null : await ensureCertificates(data.certificates),
  };
  const [workflows, bare] = [nameBundle(), withoutSettings(env)];
  const code = await prepareCode({ data, env: bare, report }, nameCode(workflows.buildId), group.signal);
  group.signal.throwIfAborted();
  return { context: { config, data, record, env: bare, code, report }, secrets, backends, workflows };
}

function withoutSettings(env: StackOptions['env']): StackOptions['env'] {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('FLOTILLA_')));
}

/** Stops the services, then cleans up. Idempotent. */
export async function stopStack(group: ServiceGroup, cleanups: (() => void)[]): Promise<void> {
  await group.stop();
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
}

/** Writes the files by which the owner reaches the Temporal server. */
export async function ownTemporal(
  certificates: Certificates,
  of: { config: Config; data: DataDirectory; secrets: StackSecrets; codecUrl?: string },
): Promise<OwnTemporal> {
  const { config, data, secrets } = of;
  const cliProfile = join(data.root, 'temporal', 'cli.toml');
  const [ui, uiFile] = [uiAddress(config, secrets), join(data.root, 'temporal', 'ui.url')];
  await writeFile(uiFile, `${ui}\n`, { mode: 0o600 });
  const { codecUrl, codecToken } = uiAccess(of.codecUrl ?? `${localUrl(config)}/codec`, config, secrets);
  await writeCliProfile(cliProfile, {
    address: `127.0.0.1:${config.temporalPort}`,
    namespace: config.temporalNamespace,
    certificates,
    codecUrl,
    codecToken,
  });
  return { ui, uiFile, cliProfile };
}

/** Writes a profile for `temporal --config-file`. Only the owner can read it, because it grants access. */
async function writeCliProfile(
  file: string,
  of: { address: string; namespace: string; certificates: Certificates; codecUrl: string; codecToken: string },
): Promise<void> {
  const { ca, client } = of.certificates;
  const line = (name: string, value: string): string => `${name} = ${JSON.stringify(value)}`;
  const text = [
    '[profile.default]',
    line('address', of.address),
    line('namespace', of.namespace),
    '[profile.default.tls]',
    line('server_name', SERVER_NAME),
    line('server_ca_cert_path', ca),
    line('client_cert_path', client.cert),
    line('client_key_path', client.key),
    '[profile.default.codec]',
    line('endpoint', of.codecUrl),
    line('auth', `Bearer ${of.codecToken}`),
  ];
  await writeFile(file, `${text.join('\n')}\n`, { mode: 0o600 });
}

/** Lines for the user. The token is shown on a terminal only, not in a log. */
export function describeTemporal({ ui, uiFile, cliProfile }: OwnTemporal, toPerson: boolean): string[] {
  const [address] = ui.split('?');
  // Written only when the server has a UI.
  const hasUi = existsSync(join(dirname(uiFile), 'server', 'ui.json'));
  return [
    ...(hasUi ? [`  Temporal UI    ${toPerson ? ui : `${address}   (with its token: ${uiFile})`}`] : []),
    `  Temporal CLI   temporal --config-file ${cliProfile} workflow list`,
  ];
}

function logFiles(data: DataDirectory): ReadonlyMap<string, string> {
  return new Map([
    ['API', data.log('api')],
    ['worker', data.log('worker')],
    ['fleet', data.log('fleet')],
    ['PostgreSQL', data.log('postgres')],
    ['Temporal', data.log('temporal')],
  ]);
}
