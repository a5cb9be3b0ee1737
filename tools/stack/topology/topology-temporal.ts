import { join } from 'node:path';
import pg from 'pg';
import type { Certificates } from '../../temporal-server/certificates.ts';
import { SERVER_DYNAMIC_CONFIG } from '../../temporal-server/dynamic-config.ts';
import type { TemporalPrograms } from '../../temporal-server/programs.ts';
import type { PostgresStore, TemporalPorts } from '../../temporal-server/server-config.ts';
import type { TemporalServerOptions } from '../../temporal-server/temporal-server.ts';
import type { DatabaseRole } from '../database/database-roles.ts';
import { tailOf } from '../processes/log-follower.ts';
import { createService, type Service } from '../processes/service.ts';
import type { ServiceContext } from '../processes/services.ts';
import type { StackSecrets } from '../secrets.ts';
import { StackError } from '../stack-error.ts';
import { DATABASE } from './roles.ts';

const PLAIN: ReadonlySet<string | null> = new Set([null, 'disable', 'allow', 'prefer']);
const [WORKFLOWS, VISIBILITY] = ['temporal', 'temporal_visibility'] as const;
/** PostgreSQL truncates longer names silently. */
const MAX_NAME_BYTES = 63;
const MAX_BASE = MAX_NAME_BYTES - `_${VISIBILITY}`.length;
/** The Temporal server puts the name into a URL without escaping. */
const SAFE_NAME = /^[\w.-]+$/;

/**
 * Where the Temporal server keeps its data: in separate databases on our database server, `temporal` and
 * `temporal_visibility` beside `flotilla`, `<name>_temporal` and `<name>_temporal_visibility` beside any other. Two
 * servers in one store would be one cluster, in which the reconcilers of two databases end each other's workflows.
 * @param url - of our database
 * @throws {StackError} when it requires TLS, which this Temporal server does not use with PostgreSQL, or no database
 * names can be derived from its name
 */
export function temporalStore(url: string): PostgresStore {
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
    ...databaseNames(pathname.slice(1)),
  };
}

function databaseNames(name: string): Pick<PostgresStore, 'database' | 'visibilityDatabase'> {
  if (!SAFE_NAME.test(name) || name.length > MAX_BASE) {
    throw new StackError(
      `The Temporal server of this command has databases named after that of FLOTILLA_DATABASE_URL, "${name}": give one whose name has 1 to ${MAX_BASE} characters out of A-Z, a-z, 0-9, _, . and -, or run the Temporal server apart.`,
    );
  }
  const prefix = name === DATABASE ? '' : `${name}_`;
  return { database: `${prefix}${WORKFLOWS}`, visibilityDatabase: `${prefix}${VISIBILITY}` };
}

/** The role that owns the databases of the Temporal server in a PostgreSQL of ours. */
export function temporalRole({ temporalDatabasePassword: password }: StackSecrets): DatabaseRole {
  return { name: WORKFLOWS, password, databases: [WORKFLOWS, VISIBILITY] };
}

/** Creates the databases, updates their schema and starts Temporal with its web UI. See {@link temporalStore}. */
export function topologyTemporalService(
  context: ServiceContext,
  options: {
    /** URL of an external database, to create the databases beside it; null with the embedded server. */
    makeIn: string | null;
    store: PostgresStore;
    programs: TemporalPrograms;
    ports: TemporalPorts;
    certificates: Certificates;
    ui: NonNullable<TemporalServerOptions['ui']>;
    signal: AbortSignal;
  },
): Service {
  const { config, data, record, env, report } = context;
  const { makeIn, store, programs, ports, certificates, ui, signal: stopping } = options;
  const logFile = data.log('temporal');
  let isPrepared = false;
  return createService({
    name: 'Temporal',
    failFast: true,
    report,
    logTail: () => tailOf(logFile),
    async start(signal) {
      const { prepareStore, startTemporal } = await import('../../temporal-server/temporal-server.ts');
      if (!isPrepared) {
        for (const name of makeIn === null ? [] : [store.database, store.visibilityDatabase])
          await ensureDatabase(maintenanceUrl(makeIn!), name);
        await prepareStore(programs, store, { env, signal: stopping });
        isPrepared = true;
      }
      return await startTemporal({
        programs,
        store: { postgres: store },
        ports,
        namespace: config.temporalNamespace,
        certificates,
        ui,
        dynamicConfig: SERVER_DYNAMIC_CONFIG,
        directory: join(data.root, 'temporal', 'server'),
        logFile,
        env,
        signal,
        onSpawn: (pid) => record.add('Temporal', pid),
      });
    },
  });
}

/** Creates the database on a server. Idempotent. @param adminUrl - of the server's maintenance database */
async function ensureDatabase(adminUrl: string, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl });
  try {
    await client.connect();
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [name]);
    if (rowCount === 0) await client.query(`create database ${client.escapeIdentifier(name)}`);
  } catch (error) {
    throw new StackError(`The database ${name} cannot be created: ${(error as Error).message}`, { cause: error });
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** The database that exists on every server, from which others are created. */
function maintenanceUrl(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.pathname = '/postgres';
  return url.href;
}
