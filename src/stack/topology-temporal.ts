import { join } from 'node:path';
import type { TemporalPorts, TemporalStore } from '../../temporal/server/official-config.ts';
import type { OfficialPrograms } from '../../temporal/server/official-server.ts';
import { ensureDatabase } from './database.ts';
import { tailOf } from './log-follower.ts';
import { DATABASE } from './roles.ts';
import { createService, type Service } from './service.ts';
import type { ServiceContext } from './services.ts';
import { StackError } from './stack-error.ts';

const PLAIN: ReadonlySet<string | null> = new Set([null, 'disable', 'allow', 'prefer']);
const [WORKFLOWS, VISIBILITY] = ['temporal', 'temporal_visibility'] as const;
/** PostgreSQL cuts longer names off without a word. */
const MAX_NAME_BYTES = 63;
const MAX_BASE = MAX_NAME_BYTES - `_${VISIBILITY}`.length;
/** The Temporal server puts the name into a URL as it is: another character could lead it into another database. */
const SAFE_NAME = /^[\w.-]+$/;

/**
 * Where the official server keeps its data: in databases of its own on the server of ours, `temporal` and
 * `temporal_visibility` beside `flotilla`, `<name>_temporal` and `<name>_temporal_visibility` beside any other. Two servers in
 * one store would be one cluster, in which the reconcilers of two databases end each other's workflows.
 *
 * @param url - of our database
 * @throws {StackError} when it asks for TLS, which the server started here does not speak to PostgreSQL, or its name is
 * none to make others from
 */
export function temporalStore(url: string): TemporalStore {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url);
  if (!PLAIN.has(searchParams.get('sslmode'))) {
    throw new StackError(
      'The Temporal server of this command cannot use TLS to PostgreSQL: give a FLOTILLA_DATABASE_URL without sslmode, or run the Temporal server apart.',
    );
  }
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || 5432),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    ...databasesBeside(pathname.slice(1)),
  };
}

function databasesBeside(name: string): Pick<TemporalStore, 'database' | 'visibilityDatabase'> {
  if (!SAFE_NAME.test(name) || name.length > MAX_BASE) {
    throw new StackError(
      `The Temporal server of this command has databases named after that of FLOTILLA_DATABASE_URL, "${name}": give one whose name has 1 to ${MAX_BASE} characters out of A-Z, a-z, 0-9, _, . and -, or run the Temporal server apart.`,
    );
  }
  const prefix = name === DATABASE ? '' : `${name}_`;
  return { database: `${prefix}${WORKFLOWS}`, visibilityDatabase: `${prefix}${VISIBILITY}` };
}

/** The official Temporal server on PostgreSQL, its databases made and brought up to date first. @see temporalStore */
export function officialTemporalService(
  context: ServiceContext,
  options: {
    databaseUrl: string;
    store: TemporalStore;
    programs: OfficialPrograms;
    ports: TemporalPorts;
    signal: AbortSignal;
  },
): Service {
  const { data, record, report } = context;
  const { databaseUrl, store, programs, ports, signal: stopping } = options;
  const logFile = data.log('temporal');
  let isPrepared = false;
  return createService({
    name: 'Temporal',
    failFast: true,
    report,
    lastWords: () => tailOf(logFile),
    async start(signal) {
      const { prepareStore, startOfficialTemporal } = await import('../../temporal/server/official-temporal.ts');
      if (!isPrepared) {
        for (const name of [store.database, store.visibilityDatabase])
          await ensureDatabase(maintenanceUrl(databaseUrl), name);
        await prepareStore(programs, store, stopping);
        isPrepared = true;
      }
      const directory = serverDirectory(context);
      return await startOfficialTemporal({
        programs,
        store,
        ports,
        directory,
        logFile,
        signal,
        onSpawn: (pid) => record.add('Temporal', pid),
      });
    },
  });
}

/** The web UI of the official server. */
export function temporalUiService(
  context: ServiceContext,
  options: { programs: OfficialPrograms; ports: TemporalPorts; codecEndpoint: string },
): Service {
  const { config, data, record, report } = context;
  const logFile = data.log('temporal-ui');
  return createService({
    name: 'Temporal UI',
    failFast: true,
    report,
    lastWords: () => tailOf(logFile),
    async start(signal) {
      const { startTemporalUi } = await import('../../temporal/server/official-temporal.ts');
      return await startTemporalUi({
        ...options,
        namespace: config.temporalNamespace,
        directory: serverDirectory(context),
        logFile,
        signal,
        onSpawn: (pid) => record.add('Temporal UI', pid),
      });
    },
  });
}

function serverDirectory({ data }: ServiceContext): string {
  return join(data.root, 'temporal', 'server');
}

/** A database that is there on every server, to make others from. */
function maintenanceUrl(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.pathname = '/postgres';
  return url.href;
}
