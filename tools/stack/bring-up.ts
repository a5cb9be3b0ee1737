import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Config, loadConfig } from '../../src/process/config.ts';
import type { bootstrap } from '../../temporal/bootstrap.ts';
import type { Certificates } from '../temporal-server/certificates.ts';
import type { WorkflowBundle } from '../../workers/process/workflow-bundle.ts';
import type { FirstAdministrator, prepareDatabase } from './database/prepare-database.ts';
import { prepareInService } from './processes/child-call.ts';
import { runScript } from './processes/run-script.ts';
import type { ServiceGroup } from './processes/service-group.ts';
import {
  postgresService,
  type RoleOptions,
  roleService,
  type ServiceContext,
  temporalService,
} from './processes/services.ts';
import type { StackSecrets } from './secrets.ts';
import { StackError } from './stack-error.ts';
import { localUrl } from './topology/roles.ts';
import { prepareWebPage } from './web/prepare-page.ts';

/** A stack whose ports are free and whose secrets are loaded. */
interface BringUpContext {
  context: ServiceContext;
  group: ServiceGroup;
  secrets: StackSecrets;
  /** Settings of its processes. */
  env: Record<string, string | undefined>;
}

export interface BringUp extends BringUpContext {
  databaseUrl: string;
  temporalAddress: string;
  certificates: Certificates | null;
  workflows: WorkflowBundle;
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
  const { config } = context;
  const reportRunning = createProgress(context.report);
  const launch = (role: 'api' | 'worker' | 'fleet', name: string, options: Omit<RoleOptions, 'env'> = {}) =>
    group.launch(roleService(context, role, name, { env, ...options }));

  const inApi = prepareInService<typeof prepareDatabase>(...DATABASE_PREPARATION);
  const inWorker = prepareInService<typeof bootstrap>('temporal/bootstrap.ts', 'bootstrap');
  const database = startDatabase(plan, inApi.call, reportRunning);
  const temporal = startTemporal(plan, inWorker.call).then(() => reportRunning('Temporal'));
  const page = prepareWebPage(context, group.signal);
  const bundle = prepareBundle(plan);
  const repaired: Promise<unknown> = plan.afterRestore
    ? Promise.all([database, temporal]).then(() => repairRestored(plan))
    : database;
  const servers = Promise.all([repaired, temporal, bundle]);
  const api = launch('api', 'API', { needs: Promise.all([repaired, page]), preparation: inApi.preparation }).then(() =>
    reportRunning('API'),
  );
  const worker = launch('worker', 'worker', { needs: servers, preparation: inWorker.preparation }).then(() =>
    reportRunning('worker'),
  );
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

async function startDatabase(
  plan: BringUp,
  prepare: typeof prepareDatabase,
  reportRunning: (name: string) => void,
): Promise<FirstAdministrator | null> {
  const { context, group, secrets, databaseUrl } = plan;
  if (!context.config.databaseUrl) {
    await group.launch(postgresService(context, secrets));
    reportRunning('PostgreSQL');
  }
  return prepareAndReport(plan, prepare, databaseUrl, context.config);
}

/** Module and name of what brings the database up to date. */
export const DATABASE_PREPARATION = ['tools/stack/database/prepare-database.ts', 'prepareDatabase'] as const;

/** Calls the preparation of the database where it is loaded, and reports a registration key that it generated. */
export async function prepareAndReport(
  { context: { data, report }, secrets }: Pick<BringUpContext, 'context' | 'secrets'>,
  prepare: typeof prepareDatabase,
  url: string,
  config: Config,
): Promise<FirstAdministrator | null> {
  const { administrator, registrationKey } = await prepare(url, config, secrets, data.secrets);
  if (registrationKey !== null) {
    report(`Registration key  ${registrationKey}`);
    report(`Other machines reach ${config.host}: computers need this key, and wait to be accepted.`);
    report(`PATCH ${config.publicUrl}/api/v2/preferences changes both, and GET shows the key again.`);
  }
  return administrator;
}

async function startTemporal(plan: BringUp, prepare: typeof bootstrap): Promise<void> {
  const { context, group, env, secrets, certificates, temporalAddress, workflows } = plan;
  if (certificates) await group.launch(temporalService(context, { secrets, certificates, stopping: group.signal }));
  const own = certificates ? { isLocal: true, build: workflows.buildId } : {};
  const keys = await prepare(loadConfig(env, 'process'), BOOTSTRAP_LIMIT_MS, own).catch((error: Error) => {
    group.signal.throwIfAborted();
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

/** Builds the workflow bundle unless it is up to date, in a process of its own. */
async function prepareBundle({ context, group, env, workflows }: BringUp): Promise<void> {
  if (!existsSync(workflows.codePath))
    await runScript(['workers/build-bundle.ts'], env, context.data.log('bundle'), group.signal);
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
