import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { readExecutionLog } from '../../simulator/execution-log.ts';
import { type Resources, stopProcess } from '../harness/resources.ts';
import type { Stack } from './stack.ts';

/** Simulated agents in their own process; its CPU is shown and never counted for the product. */
export interface BenchFleet {
  readonly pid: number;
  /** Executions so far: how often an operation ran, and how many ran more than once on a computer. */
  executions(): { executed: number; repeated: number };
  /** Restarts the agents with other intervals. */
  setPing(seconds: number, urgentSeconds?: number): Promise<void>;
}

/** Fast enough that the server is measured and not the agents' intervals. */
export const AGENT_TIMES = { urgentSeconds: 0.2, operationSeconds: 0.1 } as const;

/** Default interval of the open client. */
export const DEFAULT_PING_SECONDS = 30;

const PINGS_PER_SECOND = 1250;
const MIN_PING_SECONDS = 0.5;

/** Ping interval for a fleet of `computers` agents with the same total rate for all sizes. */
export function pingSecondsFor(computers: number): number {
  return Math.max(MIN_PING_SECONDS, computers / PINGS_PER_SECOND);
}

export interface FleetCommand {
  computers: number;
  account: string;
  pingSeconds: number;
  seed: number;
  /** Rules of an audit; default: the fleet's own number. */
  auditRules?: number;
}

/**
 * Starts a fleet and resolves when every agent is enrolled and has sent its inventory.
 * @throws when the process exits before
 */
export async function startFleet(
  resources: Resources,
  root: string,
  stack: Stack,
  command: FleetCommand,
): Promise<BenchFleet> {
  const folder = resources.folder('flotilla-bench-fleet-');
  const executionLogFile = join(folder, 'execution-log');
  const launch = async (pingSeconds: number, urgentSeconds: number = AGENT_TIMES.urgentSeconds) => {
    const args = {
      '--computers': command.computers,
      '--url': stack.agentPorts.map((port) => `http://127.0.0.1:${port}`).join(','),
      '--account': command.account,
      '--seed': command.seed,
      '--state': join(folder, 'state'),
      '--execution-log': executionLogFile,
      '--ping-interval': pingSeconds,
      '--urgent-interval': urgentSeconds,
      '--operation-time': AGENT_TIMES.operationSeconds,
      ...(command.auditRules === undefined ? {} : { '--audit-rules': command.auditRules }),
    };
    const argv = ['tools/simulator/main.ts', ...Object.entries(args).flatMap(([name, value]) => [name, String(value)])];
    const child = resources.spawn(process.execPath, argv, { cwd: root, stdio: ['ignore', 'ignore', 'pipe'] });
    await enrolled(child);
    return child;
  };
  let child = await launch(command.pingSeconds);
  return {
    get pid() {
      return child.pid!;
    },
    async setPing(seconds, urgentSeconds) {
      await stopProcess(child);
      child = await launch(seconds, urgentSeconds);
    },
    executions() {
      const counts = new Map<string, number>();
      const executions = existsSync(executionLogFile) ? readExecutionLog(executionLogFile) : [];
      for (const { computer, operationId } of executions) {
        const key = `${computer}/${operationId}`;
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }
      return { executed: executions.length, repeated: [...counts.values()].filter((count) => count > 1).length };
    },
  };
}

/** Follows the fleet's log until every computer is settled. */
function enrolled(child: ChildProcess): Promise<void> {
  const lines: string[] = [];
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the fleet ended with code ${code}:\n${lines.join('\n')}`)));
    createInterface({ input: child.stderr! }).on('line', (line) => {
      lines.push(line);
      if (lines.length > 20) lines.shift();
      if (line.includes('"msg":"fleet enrolled"')) resolve();
    });
  });
}
