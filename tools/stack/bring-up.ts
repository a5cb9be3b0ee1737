import { setTimeout as sleep } from 'node:timers/promises';
import { loadConfig } from '../../src/process/config.ts';
import type { Certificates } from '../temporal-server/certificates.ts';
import { type FirstAdministrator, loadPersistence, prepareDatabase } from './database/database.ts';
import { runScript } from './processes/run-script.ts';
import type { ServiceGroup } from './processes/service-group.ts';
import { postgresService, roleService, type ServiceContext, temporalService } from './processes/services.ts';
import type { StackSecrets } from './secrets.ts';
import { StackError } from './stack-error.ts';
import { localUrl } from './topology/roles.ts';
import { prepareWebPage } from './web/prepare-page.ts';

/** A stack whose ports are free and whose secrets are loaded. */
export interface BringUp {
  context: ServiceContext;
  group: ServiceGroup;
  secrets: StackSecrets;
  env: Record<string, string | undefined>;
  databaseUrl: string;
  temporalAddress: string;
  certificates: Certificates | null;
  /** The data directory is a restored copy: reconcile it with the agents before serving anything. */
  afterRestore: boolean;
}

const BOOTSTRAP_LIMIT_MS = 30_000;
const READY_REPORT_MS = 5000;

/**
 * Starts every part as soon as its dependencies run, and the processes of API and worker at once: their code loads
 * meanwhile. Resolves when an action would succeed.
 * @throws {StackError} with the first reason why it would not
 */
export async function bringUp(plan: BringUp): Promise<FirstAdministrator | null> {
  const { context, group, env } = plan;
  const { config, data } = context;
  const reportRunning = createProgress(context.report);
  const launch = (role: 'api' | 'worker' | 'fleet', name: string, needs?: Promise<unknown>) =>
    group.launch(roleService(context, role, name, env, needs));

  const database = startDatabase(plan, reportRunning);
  const temporal = startTemporal(plan).then(() => reportRunning('Temporal'));
  const page = prepareWebPage(context, group.signal);
  const bundle = runScript(['workers/build-bundle.ts'], env, data.log('bundle'), group.signal);
  const repaired: Promise<unknown> = plan.afterRestore
    ? Promise.all([database, temporal]).then(() => repairRestored(plan))
    : database;
  const servers = Promise.all([repaired, temporal, bundle]);
  const api = launch('api', 'API', Promise.all([repaired, page])).then(() => reportRunning('API'));
  const worker = launch('worker', 'worker', servers).then(() => reportRunning('worker'));
  const fleet = api.then(() => (config.simulatedComputers > 0 ? launch('fleet', 'fleet') : undefined));
  const parts = [database, temporal, page, bundle, repaired, servers, api, worker, fleet];
  for (const part of parts) part.catch(() => undefined);
  await Promise.all(parts);
  await Promise.race([waitUntilReady(plan), group.failed]);
  return database;
}

function createProgress(report: (message: string) => void): (name: string) => void {
  const startedAt = performance.now();
  return (name) => report(`${name} runs (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`);
}

async function startDatabase(plan: BringUp, reportRunning: (name: string) => void): Promise<FirstAdministrator | null> {
  const { context, group, secrets, databaseUrl } = plan;
  // The ORM loads while PostgreSQL starts.
  const loaded = loadPersistence();
  if (!context.config.databaseUrl) {
    await group.launch(postgresService(context, secrets));
    reportRunning('PostgreSQL');
  }
  await loaded;
  group.signal.throwIfAborted();
  return prepareDatabase(databaseUrl, context.config, secrets, context.data.secrets, context.report);
}

async function startTemporal(plan: BringUp): Promise<void> {
  const { context, group, env, secrets, certificates, temporalAddress } = plan;
  const loaded = import('../../temporal/bootstrap.ts');
  if (certificates) await group.launch(temporalService(context, { secrets, certificates, stopping: group.signal }));
  const { bootstrap } = await loaded;
  group.signal.throwIfAborted();
  const isLocal = certificates !== null;
  const keys = await bootstrap(loadConfig(env, 'process'), BOOTSTRAP_LIMIT_MS, { isLocal }).catch((error: Error) => {
    throw new StackError(`The Temporal server ${temporalAddress} cannot be prepared: ${error.message}`, {
      cause: error,
    });
  });
  if (keys.reencrypted > 0) context.report(`${keys.reencrypted} schedules are encrypted with the first key now`);
  if (keys.unreadable.length > 0) {
    context.report(
      `${keys.unreadable.length} schedules are encrypted with a key that is not configured: ` +
        'add it again after the first one and restart',
    );
  }
}

/** Does the same as `npm run after-restore`. */
export async function repairRestored({
  context,
  group,
  env,
}: Pick<BringUp, 'context' | 'group' | 'env'>): Promise<void> {
  const { data, report } = context;
  report(await runScript(['workers/after-restore.ts'], env, data.log('after-restore'), group.signal));
}

async function waitUntilReady({ context, group }: BringUp): Promise<void> {
  const url = `${localUrl(context.config)}/readyz`;
  let reportedAt = performance.now();
  for (;;) {
    group.signal.throwIfAborted();
    const response = await fetch(url, { signal: AbortSignal.timeout(3000) }).catch(() => null);
    const text = (await response?.text().catch(() => '')) ?? '';
    if (response?.ok) return;
    if (performance.now() - reportedAt > READY_REPORT_MS) {
      reportedAt = performance.now();
      context.report(
        `not ready yet: ${response ? `${response.status} ${text.slice(0, 300)}` : 'the API does not answer'}`,
      );
    }
    await sleep(50);
  }
}
