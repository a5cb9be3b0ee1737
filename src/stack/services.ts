import type { Config } from '../config.ts';
import type { DataDirectory } from './data-directory.ts';
import { ensureDatabase } from './database.ts';
import { tailOf } from './log-follower.ts';
import { startNodeProcess } from './node-process.ts';
import { findFreePort } from './ports.ts';
import { startPostgres } from './postgres.ts';
import { COMMANDS, DATABASE, localUrl, PROJECT } from './roles.ts';
import type { RunningRecord } from './running-file.ts';
import type { StackSecrets } from './secrets.ts';
import { createService, type Service } from './service.ts';

/** What every service of one stack needs. */
export interface ServiceContext {
  config: Config;
  data: DataDirectory;
  record: RunningRecord;
  report(message: string): void;
}

/** The embedded PostgreSQL with our database in it. */
export function postgresService(context: ServiceContext, secrets: StackSecrets): Service {
  const { config, data, report } = context;
  const logFile = data.log('postgres');
  return createService({
    name: 'PostgreSQL',
    failFast: true,
    report,
    lastWords: () => tailOf(logFile),
    async start(signal) {
      const place = { dataDir: data.postgres, port: config.databasePort, logFile };
      const server = await startPostgres({ ...place, password: secrets.databasePassword, signal, report });
      try {
        await ensureDatabase(server.url('postgres'), DATABASE);
      } catch (error) {
        await server.stop();
        throw error;
      }
      return server;
    },
  });
}

/** The embedded Temporal server with its web UI. Getting its program for the first time may take minutes. */
export function temporalService(context: ServiceContext, stopping: AbortSignal): Service {
  const { config, data, record, report } = context;
  const logFile = data.log('temporal');
  let cli: string | undefined;
  return createService({
    name: 'Temporal',
    failFast: true,
    report,
    lastWords: () => tailOf(logFile),
    async start(signal) {
      const { resolveTemporalCli } = await import('../../temporal/server/temporal-cli.ts');
      const { startLocalTemporal } = await import('../../temporal/server/local-temporal.ts');
      cli ??= await resolveTemporalCli({ bin: config.temporalBin, report, signal: stopping });
      return await startLocalTemporal({
        cli,
        port: config.temporalPort,
        uiPort: config.temporalUiPort,
        httpPort: await findFreePort(),
        databaseFile: data.temporalDatabase,
        namespace: config.temporalNamespace,
        codecEndpoint: `${localUrl(config)}/codec`,
        logFile,
        signal,
        onSpawn: (pid) => record.add('Temporal', pid),
      });
    },
  });
}

/** One of the embedded stack's own processes. */
export function roleService(
  context: ServiceContext,
  role: keyof typeof COMMANDS,
  name: string,
  env: Record<string, string | undefined>,
): Service {
  const command = COMMANDS[role](context.config, context.data);
  return processService(context, { name, log: role, command, env });
}

/** A Node process of ours. @param options - `log` is the name of its log file */
export function processService(
  context: ServiceContext,
  options: { name: string; log: string; command: readonly string[]; env: Record<string, string | undefined> },
): Service {
  const { data, record, report } = context;
  const { name, command, env } = options;
  const logFile = data.log(options.log);
  return createService({
    name,
    report,
    lastWords: () => tailOf(logFile),
    start: (signal) =>
      startNodeProcess({ command, cwd: PROJECT, env, logFile, onSpawn: (pid) => record.add(name, pid) }, signal),
  });
}
