import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { encryptionKeys } from '../../../src/process/setting-types.ts';
import { connectClient } from '../../../temporal/client/connection.ts';
import { stackTls } from '../../harness/stack-access.ts';
import { environmentOf } from '../../harness/stack-processes.ts';
import { spawnProgram } from '../../harness/stack-programs.ts';
import { findFreePorts } from '../../stack/processes/ports.ts';
import { signalProcess } from '../../stack/processes/processes.ts';
import type { RowCase, Stage } from './case.ts';

const UNREADABLE = 'which is not configured';
const STUCK = 'workflow is stuck';
const OTHER_KEY = `other:${Buffer.alloc(32, 7).toString('base64')}`;

/** Rows 24, 26 and 29: workers that cannot decrypt, and processes that are stopped under load. */
export const WORKERS: readonly RowCase[] = [
  {
    row: 24,
    title: 'a run whose input nobody can read is reported, all others go on, and a deleted one starts anew',
    // The reconciler runs once a minute.
    longOnly: true,
    async run(stage) {
      const { main, stack } = stage.world;
      await stage.sound(async (session) => {
        const before = stage.strikes('before-start');
        await stage.enable('before-start', { blockMs: 4000 });
        const poisoned = await stage.mustInstall(session, stage.all.slice(0, 10));
        await stage.waitUntilStruck('before-start', before);
        const workflowId = `activity/${poisoned}`;
        await startUnreadable(stage, workflowId);
        // A computer gets its actions in their order.
        const healthy = await stage.mustInstall(session, stage.all.slice(10));
        expect((await main.api.pollActivity(healthy, 120_000)).activity_status).toBe('succeeded');
        const isReported = (): boolean => isLoggedAsStuck(`${stack.dataDir}/logs/worker.log`, workflowId);
        await stack.waitUntil('the workflow to be reported', isReported, { limitMs: 240_000, everyMs: 1000 });
        expect(await stage.statuses(poisoned)).not.toHaveProperty('succeeded');
        await deleteWorkflow(stage, workflowId);
        expect((await main.api.pollActivity(poisoned, 240_000)).activity_status).toBe('succeeded');
      });
    },
  },
  {
    row: 26,
    title: 'a worker with the wrong key fails clearly and writes nothing in clear, while another does the work',
    longOnly: true,
    async run(stage) {
      const { stack } = stage.world;
      const worker = stack.processes('worker')[0]!;
      const [metricsPort] = await findFreePorts(1);
      const address = environmentOf(worker.pid, 'FLOTILLA_TEMPORAL_ADDRESS') ?? '';
      const env = {
        ...stack.environment(),
        FLOTILLA_EMBEDDED: 'true',
        FLOTILLA_DATABASE_URL: stack.databaseUrl(),
        FLOTILLA_TEMPORAL_ADDRESS: address,
        ...tlsOf(worker.pid),
        FLOTILLA_JWT_SECRET: 'x'.repeat(40),
        FLOTILLA_ENCRYPTION_KEYS: OTHER_KEY,
        FLOTILLA_METRICS_PORT: String(metricsPort),
        NODE_OPTIONS: '',
      };
      const log = `${stack.root}/beside/wrong-key.log`;
      const wrong = spawnProgram(['workers/main.ts'], env, log);
      try {
        await stack.waitUntil('the second worker to poll', () => readLog(log).includes('"polling"'), {
          limitMs: 120_000,
        });
        const { session } = await stage.sound(async (current) => {
          await stage.mustInstall(current, stage.all.slice(0, 5));
          await stage.mustInstall(current);
          // The two workers share the work for a while.
          await sleep(30_000);
          const hasFailed = async (): Promise<boolean> => {
            if (readLog(log).includes(UNREADABLE)) return true;
            await stage.install(current, stage.all.slice(0, 2));
            return false;
          };
          await stack.waitUntil('the second worker to fail clearly', hasFailed, { limitMs: 120_000, everyMs: 1000 });
          signalProcess(wrong.pid!, 'SIGKILL');
        });
        for (const group of session.groups) expect(Object.keys(await stage.statuses(group))).toEqual(['succeeded']);
      } finally {
        signalProcess(wrong.pid!, 'SIGKILL');
      }
    },
  },
  {
    row: 29,
    title: 'SIGTERM under load hands everything over, and no request fails for a client that retries',
    async run(stage) {
      await stage.sound(async (session) => {
        let isOver = false;
        const clients = Array.from({ length: 4 }, async () => {
          let failed = 0;
          while (!isOver) failed += (await retryInstall(stage, session)) ? 0 : 1;
          return failed;
        });
        for (const role of ['api', 'worker'] as const) {
          await waitUntilAccepted(stage, session);
          for (const { pid } of stage.world.stack.processes(role)) process.kill(pid, 'SIGTERM');
          stage.world.died(role);
        }
        await waitUntilAccepted(stage, session);
        await stage.world.waitUntilReady();
        isOver = true;
        expect(await Promise.all(clients)).toEqual([0, 0, 0, 0]);
      });
    },
  },
];

function tlsOf(pid: number): Record<string, string> {
  const names = ['CA', 'CERT', 'KEY', 'SERVER_NAME'].map((name) => `FLOTILLA_TEMPORAL_TLS_${name}`);
  return Object.fromEntries(names.map((name) => [name, environmentOf(pid, name) ?? '']));
}

/** Starts a workflow encrypted with a key that no worker of the stack has. */
async function startUnreadable(stage: Stage, workflowId: string): Promise<void> {
  const { client, close } = await connectClient({
    temporalAddress: `127.0.0.1:${stage.world.stack.ports.temporal}`,
    temporalTls: stackTls(stage.world.stack.dataDir),
    temporalNamespace: 'flotilla',
    encryptionKeys: encryptionKeys.parse(OTHER_KEY),
  });
  try {
    await client.workflow.start('activity', { workflowId, taskQueue: 'fleet-activity', args: [{ id: 1 }] });
  } finally {
    await close();
  }
}

/** What docs/alerts.md advises to start a workflow again from its rows. */
async function deleteWorkflow({ world: { stack } }: Stage, workflowId: string): Promise<void> {
  const { workflowService, options } = await stack.temporal();
  await workflowService.deleteWorkflowExecution({ namespace: options.namespace, workflowExecution: { workflowId } });
}

const isLoggedAsStuck = (log: string, workflowId: string): boolean =>
  readLog(log)
    .split('\n')
    .some((line) => line.includes(STUCK) && line.includes(`"${workflowId}"`));

function readLog(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

/** Waits until more actions are accepted. */
async function waitUntilAccepted({ world }: Stage, { groups }: Parameters<Stage['install']>[0]): Promise<void> {
  const before = groups.length;
  await world.stack.waitUntil('actions to be accepted', () => groups.length > before + 4);
}

const TRIES = 60;
/** Of a client that tries again. */
const RETRY_MS = 500;

async function retryInstall(stage: Stage, session: Parameters<Stage['install']>[0]): Promise<boolean> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    if ((await stage.install(session, stage.all.slice(0, 2))) !== null) return true;
    await sleep(RETRY_MS);
  }
  return false;
}
