import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { readExecutionLog } from '../../simulator/execution-log.ts';
import { type Resources, stopProcess } from '../harness/resources.ts';
import type { Stack } from './stack.ts';

/** Simulated agents in a process of their own; its CPU is shown and never counted for the product. */
export interface BenchFleet {
  readonly pid: number;
  /** Executions so far: how often an operation ran, and how many ran more than once on a computer. */
  executions(): { executed: number; repeated: number };
  /** Starts the same agents again with another interval. */
  setPing(seconds: number): Promise<void>;
}

/** How quick the agents are: quick enough that the server is measured and not their intervals. */
export const AGENT_TIMES = { urgentSeconds: 0.2, operationSeconds: 0.1 } as const;

/** Between the pings of the open client when nobody sets it. */
export const DEFAULT_PING_SECONDS = 30;

/** Pings a second that a whole fleet makes when nothing else is asked for. */
const PINGS_PER_SECOND = 1250;
const MIN_PING_SECONDS = 0.5;

/** Seconds between the pings of one of `computers` agents, so that their rate stays the same for all sizes. */
export function pingSecondsFor(computers: number): number {
  return Math.max(MIN_PING_SECONDS, computers / PINGS_PER_SECOND);
}

export interface FleetOrder {
  computers: number;
  account: string;
  pingSeconds: number;
  seed: number;
  /** Rules that an audit looks at; the fleet's own number when absent. */
  auditRules?: number;
}

/**
 * Starts a fleet and resolves when every agent is enrolled and has told its inventory.
 * @throws when the process ends before
 */
export async function startFleet(
  resources: Resources,
  root: string,
  stack: Stack,
  order: FleetOrder,
): Promise<BenchFleet> {
  const folder = resources.folder('flotilla-bench-fleet-');
  const executionLogFile = join(folder, 'execution-log');
  const launch = async (pingSeconds: number) => {
    const args = {
      '--computers': order.computers,
      '--url': stack.agentPorts.map((port) => `http://127.0.0.1:${port}`).join(','),
      '--account': order.account,
      '--seed': order.seed,
      '--state': join(folder, 'state'),
      '--execution-log': executionLogFile,
      '--ping-interval': pingSeconds,
      '--urgent-interval': AGENT_TIMES.urgentSeconds,
      '--operation-time': AGENT_TIMES.operationSeconds,
      ...(order.auditRules === undefined ? {} : { '--audit-rules': order.auditRules }),
    };
    const command = [
      'tools/simulator/main.ts',
      ...Object.entries(args).flatMap(([name, value]) => [name, String(value)]),
    ];
    const child = resources.spawn(process.execPath, command, { cwd: root, stdio: ['ignore', 'ignore', 'pipe'] });
    await enrolled(child);
    return child;
  };
  let child = await launch(order.pingSeconds);
  return {
    get pid() {
      return child.pid!;
    },
    async setPing(seconds) {
      await stopProcess(child);
      child = await launch(seconds);
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

/** Follows the fleet's log until it says that every computer is settled. */
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
