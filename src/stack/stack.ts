import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config.ts';
import { type DataDirectory, openDataDirectory } from './data-directory.ts';
import { type FirstAdministrator, forgetPassword, loadPersistence, prepareDatabase } from './database.ts';
import { followLogs, tailOf } from './log-follower.ts';
import { endLeftover } from './postgres.ts';
import { checkPorts } from './preflight.ts';
import { localUrl, PROJECT, processEnvironment } from './roles.ts';
import { createRunningRecord, endOrphans, type RunningRecord } from './running-file.ts';
import { exists, loadSecrets, type StackSecrets } from './secrets.ts';
import type { Service } from './service.ts';
import { postgresService, roleService, type ServiceContext, temporalService } from './services.ts';
import { StackError } from './stack-error.ts';

export interface StackOptions {
  config: Config;
  env: Record<string, string | undefined>;
  report(message: string): void;
}

/** The embedded stack of one process. */
export interface Stack {
  /**
   * Starts everything. Resolves when an action would go through.
   *
   * @throws {StackError} with the one reason why it cannot run
   */
  start(): Promise<StartedStack>;
  /** Rejects when a part is given up; never resolves. Only after `start`. */
  readonly failed: Promise<never>;
  /** Ends everything in order within 15 s, at any moment. Idempotent. */
  stop(): Promise<void>;
}

export interface StartedStack {
  data: DataDirectory;
  administrator: FirstAdministrator | null;
  /** Call once the user saw the administrator's password. */
  administratorShown(): Promise<void>;
}

/** Everything has to be over within 15 s; the last bit is for the process itself. */
const STOP_LIMIT_MS = 14_000;
/** What each part may take when the others leave it nothing, in the order in which they end. */
const STOP_SHARES_MS: Readonly<Record<string, number>> = {
  fleet: 1500,
  API: 3000,
  worker: 5000,
  Temporal: 3300,
  PostgreSQL: 1200,
};

/** @see Stack */
export function createStack({ config, env, report }: StackOptions): Stack {
  const stopping = new AbortController();
  const services = new Map<string, Service>();
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined);
  let data: DataDirectory | null = null;
  let record: RunningRecord | null = null;
  let stopped: Promise<void> | null = null;
  let unfollow = (): void => undefined;

  function launch(service: Service): Promise<void> {
    stopping.signal.throwIfAborted();
    services.set(service.name, service);
    service.failed.catch(failed.reject);
    return service.start();
  }

  async function start(): Promise<StartedStack> {
    data = await openDataDirectory(resolveDataDir(config));
    const orphans = await endOrphans(data.running);
    if (orphans.length > 0) report(`ended what a killed Flotilla left running: ${orphans.join(', ')}`);
    if (await exists(data.postgres)) await endLeftover(data.postgres);
    await checkPorts(config);
    const hasData = (await exists(data.postgres)) || (await exists(data.temporalDatabase));
    const secrets = await loadSecrets(data.secrets, hasData);
    record = createRunningRecord(data.running);
    const context: ServiceContext = { config, data, record, report };
    unfollow = followLogs(logFiles(data), (name, text) => report(`${name}: ${text}`));

    const postgres = config.databaseUrl ? null : postgresService(context, secrets);
    const backends = {
      databaseUrl: config.databaseUrl ?? postgres?.url ?? '',
      temporalAddress: config.temporalAddress ?? `127.0.0.1:${config.temporalPort}`,
    };
    const childEnv = processEnvironment(env, config, data, secrets, backends);
    const administrator = await bringUp(context, postgres, secrets, childEnv, backends);
    return {
      data,
      administrator,
      administratorShown: () => forgetPassword(secrets, data?.secrets ?? ''),
    };
  }

  async function bringUp(
    context: ServiceContext,
    postgres: Service | null,
    secrets: StackSecrets,
    childEnv: Record<string, string | undefined>,
    backends: { databaseUrl: string; temporalAddress: string },
  ): Promise<FirstAdministrator | null> {
    const began = performance.now();
    const told = (name: string) => (): void =>
      report(`${name} runs (${((performance.now() - began) / 1000).toFixed(1)} s)`);
    const preload = loadPersistence();
    const databaseUp = (postgres ? launch(postgres).then(told('PostgreSQL')) : Promise.resolve()).then(async () => {
      await preload;
      stopping.signal.throwIfAborted();
      return prepareDatabase(backends.databaseUrl, config, secrets, context.data.secrets);
    });
    const temporalUp = startTemporal(context, childEnv, backends.temporalAddress).then(told('Temporal'));
    const bundled = runOnce(['workers/build-bundle.ts'], childEnv, context.data.log('bundle'), stopping.signal);
    const apiUp = databaseUp.then(() => launch(roleService(context, 'api', 'API', childEnv))).then(told('API'));
    const workerUp = Promise.all([databaseUp, temporalUp, bundled])
      .then(() => launch(roleService(context, 'worker', 'worker', childEnv)))
      .then(told('worker'));
    const fleetUp = apiUp.then(() =>
      config.simulatedComputers === 0 ? undefined : launch(roleService(context, 'fleet', 'fleet', childEnv)),
    );
    await allOrFirstFailure([databaseUp, temporalUp, bundled, apiUp, workerUp, fleetUp]);
    await Promise.race([untilReady(config, stopping.signal, report), failed.promise]);
    return databaseUp;
  }

  async function startTemporal(context: ServiceContext, childEnv: Record<string, string | undefined>, address: string) {
    if (!config.temporalAddress) await launch(temporalService(context, stopping.signal));
    stopping.signal.throwIfAborted();
    const { loadConfig } = await import('../config.ts');
    const { bootstrap } = await import('../../temporal/bootstrap.ts');
    await bootstrap(loadConfig(childEnv, 'process'), BOOTSTRAP_LIMIT_MS).catch((error: Error) => {
      throw new StackError(`The Temporal server ${address} cannot be prepared: ${error.message}`, { cause: error });
    });
  }

  async function stopAll(): Promise<void> {
    stopping.abort(new StackError('the stack was stopped'));
    const end = performance.now() + STOP_LIMIT_MS;
    const names = Object.keys(STOP_SHARES_MS);
    for (const [index, name] of names.entries()) {
      const reserved = names.slice(index + 1).reduce((sum, later) => sum + reserve(later), 0);
      await services.get(name)?.stop(Math.max(end - performance.now() - reserved, 200));
    }
    unfollow();
    record?.remove();
    data?.release();
  }

  const reserve = (name: string): number => (services.has(name) ? (STOP_SHARES_MS[name] ?? 0) : 0);
  return {
    start,
    failed: failed.promise,
    stop: () => {
      stopped ??= stopAll();
      return stopped;
    },
  };
}

const BOOTSTRAP_LIMIT_MS = 30_000;
const READY_REPORT_MS = 5000;

function resolveDataDir(config: Config): string {
  return config.dataDir === '.flotilla' ? join(PROJECT, '.flotilla') : resolve(config.dataDir);
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

/** Rejects with the first failure, but only after the others had the moment they need to notice the stop. */
async function allOrFirstFailure(work: readonly Promise<unknown>[]): Promise<void> {
  for (const part of work) part.catch(() => undefined);
  await Promise.all(work);
}

async function untilReady(config: Config, signal: AbortSignal, report: (message: string) => void): Promise<void> {
  const url = `${localUrl(config)}/readyz`;
  let toldAt = performance.now();
  for (;;) {
    signal.throwIfAborted();
    const answer = await fetch(url, { signal: AbortSignal.timeout(3000) }).catch(() => null);
    const text = (await answer?.text().catch(() => '')) ?? '';
    if (answer?.ok) return;
    if (performance.now() - toldAt > READY_REPORT_MS) {
      toldAt = performance.now();
      report(`not ready yet: ${answer ? `${answer.status} ${text.slice(0, 300)}` : 'the API does not answer'}`);
    }
    await sleep(50);
  }
}

/** Runs a script of ours to its end. @throws {StackError} when it fails */
async function runOnce(
  command: readonly string[],
  env: Record<string, string | undefined>,
  logFile: string,
  signal: AbortSignal,
): Promise<void> {
  const { open } = await import('node:fs/promises');
  const log = await open(logFile, 'w', 0o600);
  const child = spawn(process.execPath, command, {
    cwd: PROJECT,
    env,
    stdio: ['ignore', log.fd, log.fd],
    detached: true,
  });
  await log.close();
  const kill = (): void => {
    child.kill('SIGKILL');
  };
  signal.addEventListener('abort', kill, { once: true });
  const code = await new Promise((done) => child.once('exit', done).once('error', done));
  signal.removeEventListener('abort', kill);
  if (code !== 0) throw new StackError(`${command.join(' ')} failed:\n${tailOf(logFile)}`);
}
