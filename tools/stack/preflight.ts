import type { Config } from '../../src/process/config.ts';
import { listenProblem } from './processes/ports.ts';
import { StackError } from './stack-error.ts';

export const LOOPBACK = '127.0.0.1';

/** A port that something is about to listen on. */
export interface WantedPort {
  /** What sets it. */
  setting: string;
  host: string;
  port: number;
}

/**
 * Checks every port that the embedded stack is about to listen on.
 * @throws {StackError} one message that names each port that is taken, doubled or cannot be opened, with its setting
 */
export function checkPorts(config: Config): Promise<void> {
  const { host, port } = config;
  const database = { setting: 'FLOTILLA_DATABASE_PORT', host: LOOPBACK, port: config.databasePort };
  const temporal = [
    { setting: 'FLOTILLA_TEMPORAL_PORT', host: LOOPBACK, port: config.temporalPort },
    { setting: 'FLOTILLA_TEMPORAL_UI_PORT', host: LOOPBACK, port: config.temporalUiPort },
  ];
  const wanted = [
    { setting: 'FLOTILLA_PORT', host, port },
    ...(config.databaseUrl ? [] : [database]),
    ...(config.temporalAddress ? [] : temporal),
  ];
  // Metrics take the next free port where theirs is in use, but would come first here.
  const rival = wanted.find((other) => other.port === config.metricsPort);
  return checkWantedPorts(wanted, rival ? [`FLOTILLA_METRICS_PORT: port ${rival.port} is also ${rival.setting}`] : []);
}

/**
 * @param known - problems that are known already
 * @throws {StackError} one message that names each port that is taken, doubled or cannot be opened, with its setting
 */
export async function checkWantedPorts(wanted: readonly WantedPort[], known: readonly string[] = []): Promise<void> {
  const problems = known.map((problem) => `  - ${problem}`);
  for (const [index, { setting, host, port }] of wanted.entries()) {
    const twin = wanted.slice(0, index).find((other) => other.port === port);
    const problem = twin ? null : await listenProblem(host, port);
    if (twin) problems.push(`  - ${setting}: port ${port} is also ${twin.setting}`);
    else if (problem === 'EADDRINUSE') problems.push(`  - ${setting}: port ${port} on ${host} is in use`);
    else if (problem) problems.push(`  - ${setting}: port ${port} on ${host} cannot be opened (${problem})`);
  }
  if (problems.length === 0) return;
  throw new StackError(`These settings need other values:\n${problems.join('\n')}`);
}
