import { join } from 'node:path';
import type { Config } from '../../../src/process/config.ts';
import { SEARCH_ATTRIBUTE_NAMES } from '../../../workflows/contracts/search-attribute-names.ts';
import type { Certificates } from '../../temporal-server/certificates.ts';
import { LOCAL_DYNAMIC_CONFIG } from '../../temporal-server/dynamic-config.ts';
import { cacheDirectory } from '../../temporal-server/program-cache.ts';
import type { TemporalPrograms } from '../../temporal-server/programs.ts';
import { INTERNAL_PORTS } from '../../temporal-server/server-config.ts';
import type { DataDirectory } from '../data-directory.ts';
import { type DatabaseRole, ensureRoles } from '../database/database-roles.ts';
import { startPostgres } from '../database/postgres.ts';
import { LOOPBACK } from '../preflight.ts';
import type { StackSecrets } from '../secrets.ts';
import { APPLICATION_ROLE, COMMANDS, embeddedUiUrl, localUrl, PROJECT } from '../topology/roles.ts';
import { tailOf } from './log-follower.ts';
import { type NodeProcessOptions, startNodeProcess } from './node-process.ts';
import { findFreePort } from './ports.ts';
import type { RunningRecord } from './running-file.ts';
import { createService, type Service } from './service.ts';

/** What every service of one stack needs. */
export interface ServiceContext {
  config: Config;
  data: DataDirectory;
  record: RunningRecord;
  /** For programs that are not ours: without our settings, which contain secrets. */
  env: Record<string, string | undefined>;
  /** Folder of the compiled code; null where the sources run. */
  code: string | null;
  report(message: string): void;
}

/**
 * The embedded PostgreSQL with the application's database, owned by a role of its own.
 * @param others - further roles with their databases
 */
export function postgresService(
  context: ServiceContext,
  secrets: StackSecrets,
  others: readonly DatabaseRole[] = [],
): Service {
  const { config, data, env, report } = context;
  const logFile = data.log('postgres');
  const cache = cacheDirectory(env);
  return createService({
    name: 'PostgreSQL',
    failFast: true,
    report,
    logTail: () => tailOf(logFile),
    async start(signal) {
      const place = { dataDir: data.postgres, port: config.databasePort, logFile };
      const { superuserPassword, databasePassword } = secrets;
      const server = await startPostgres({ ...place, password: superuserPassword, cache, signal, report });
      try {
        const ours = { ...APPLICATION_ROLE, password: databasePassword };
        await ensureRoles({ port: config.databasePort, superuserPassword }, [ours, ...others], databasePassword);
      } catch (error) {
        await server.stop();
        throw error;
      }
      return server;
    },
  });
}

/**
 * The embedded Temporal server with its web UI, which only the owner of the certificates can use. Obtaining its program
 * for the first time may take minutes.
 */
export function temporalService(
  context: ServiceContext,
  options: { secrets: StackSecrets; certificates: Certificates; stopping: AbortSignal },
): Service {
  const { config, data, record, env, report } = context;
  const { secrets, certificates, stopping } = options;
  const logFile = data.log('temporal');
  let programs: TemporalPrograms | undefined;
  return createService({
    name: 'Temporal',
    failFast: true,
    report,
    logTail: () => tailOf(logFile),
    async start(signal) {
      const { resolveTemporal } = await import('../../temporal-server/programs.ts');
      const { startTemporal } = await import('../../temporal-server/temporal-server.ts');
      programs ??= await resolveTemporal({ bin: config.temporalServerDir, report, env, signal: stopping });
      if (!programs.hasUi) report(NO_UI);
      const internal = await Promise.all(Array.from({ length: INTERNAL_PORTS }, () => findFreePort()));
      return await startTemporal({
        programs,
        store: { sqlite: data.temporalDatabase },
        ports: { host: LOOPBACK, frontend: config.temporalPort, internal, ui: config.temporalUiPort },
        namespace: config.temporalNamespace,
        searchAttributes: Object.values(SEARCH_ATTRIBUTE_NAMES),
        certificates,
        ui: uiAccess(`${localUrl(config)}/codec`, config, secrets),
        dynamicConfig: LOCAL_DYNAMIC_CONFIG,
        directory: join(data.root, 'temporal', 'server'),
        logFile,
        env,
        signal,
        report,
        onSpawn: (pid) => record.add('Temporal', pid),
      });
    },
  });
}

export const NO_UI = 'there is no Temporal UI: it comes with the build of the server, which needs Go';

/** Tokens for the web UI, and of the web UI for the codec endpoint. */
export function uiAccess(codecUrl: string, config: Config, secrets: StackSecrets) {
  return { token: secrets.temporalUiToken, codecUrl, codecToken: config.codecToken ?? secrets.codecToken };
}

/** Address of the web UI with its token. */
export function uiAddress(config: Config, secrets: StackSecrets): string {
  return `${embeddedUiUrl(config)}?token=${secrets.temporalUiToken}`;
}

export type RoleOptions = Pick<NodeProcessOptions, 'env' | 'needs' | 'preparation'>;

/** One of the embedded stack's own processes. */
export function roleService(
  context: ServiceContext,
  role: keyof typeof COMMANDS,
  name: string,
  options: RoleOptions,
): Service {
  const command = COMMANDS[role](context.config, context.data);
  return processService(context, { name, log: role, command, ...options });
}

/** A Node process of ours. @param options - `log` is the name of its log file */
export function processService(
  context: ServiceContext,
  options: Pick<NodeProcessOptions, 'command' | 'env' | 'needs' | 'preparation'> & { name: string; log: string },
): Service {
  const { data, record, report, code } = context;
  const { name, log, ...process } = options;
  const logFile = data.log(log);
  return createService({
    name,
    report,
    logTail: () => tailOf(logFile),
    start: (signal) =>
      startNodeProcess({ ...process, code, cwd: PROJECT, logFile, onSpawn: (pid) => record.add(name, pid) }, signal),
  });
}
