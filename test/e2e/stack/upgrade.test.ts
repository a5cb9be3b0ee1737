import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/process/logger.ts';
import { encryptionKeys } from '../../../src/process/setting-types.ts';
import { connectClient, type TemporalClient } from '../../../temporal/client/connection.ts';
import { type DeploymentSettings, readCurrentBuild } from '../../../temporal/client/deployment.ts';
import { createAccount } from '../../../tools/harness/accounts.ts';
import { ApiClient } from '../../../tools/harness/stack-client.ts';
import { readExecutions } from '../../../tools/harness/stack-fleet.ts';
import { createFleet, type Fleet } from '../../../tools/simulator/fleet.ts';
import { until } from '../../support/temporal/workflow-environment.ts';
import { createProcessesApart, type ProcessesApart, type RoleProcess } from './processes-apart.ts';

/**
 * From this build to the next while 2,000 operations wait for their computers, 10,000 with `FLOTILLA_E2E_LONG=1`, in the
 * order that the operators' guide gives. The next build has another batch workflow and one migration more.
 *
 * @see docs/architecture.md#deploying-a-new-build
 */
const LONG = process.env['FLOTILLA_E2E_LONG'] === '1';
const COMPUTERS = LONG ? 250 : 100;
const OPERATIONS = LONG ? 10_000 : 2000;
const QUEUES = ['fleet-activity', 'fleet-schedule', 'fleet-report'];
const TIMEOUT_MS = 600_000;
const LIMIT_MS = 240_000;

let apart: ProcessesApart;
let next: string;
let settings: DeploymentSettings & { encryptionKeys: ReturnType<typeof encryptionKeys.parse> };
let temporal: TemporalClient;
let client: ApiClient;
let fleet: Fleet;
let computers: number[];
let gatewayUrl: string;
const old: Partial<Record<'api' | 'gateway' | 'worker', RoleProcess>> = {};
const groups: number[] = [];

beforeAll(async () => {
  apart = await createProcessesApart();
  next = join(apart.root, 'next');
  await makeNextBuild(next);
  const { environment } = apart;
  settings = {
    temporalAddress: environment['FLOTILLA_TEMPORAL_ADDRESS'] ?? null,
    temporalNamespace: environment['FLOTILLA_TEMPORAL_NAMESPACE']!,
    encryptionKeys: encryptionKeys.parse(environment['FLOTILLA_ENCRYPTION_KEYS']!),
  };
  await run('temporal/bootstrap-main.ts');
  await createAccount(apart.database.persistence.db, 'standalone');
  old.api = await apart.api({ gateway: false });
  old.gateway = await apart.gateway();
  old.worker = await apart.worker(QUEUES);
  await Promise.all(Object.values(old).map((role) => role.ready()));
  temporal = await connectClient(settings);
  client = new ApiClient(old.api.url);
  await client.login('standalone@fleet.example', 'correct horse');
}, TIMEOUT_MS);

afterAll(async () => {
  await fleet?.stop();
  await temporal?.close();
  await apart?.dispose();
});

async function run(script: string, options: { project?: string; args?: string[] } = {}): Promise<void> {
  const { code, output } = await apart.command(script, options);
  if (code !== 0) throw new Error(`${script} ended with ${code}:\n${output}`);
}

function startFleet(url: string): Promise<void> {
  fleet = createFleet({
    computers: COMPUTERS,
    url,
    logger: createLogger({ level: 'silent', role: 'fleet' }),
    stateFile: join(apart.root, 'fleet.jsonl'),
    executionLogFile: join(apart.root, 'execution-log.jsonl'),
    times: { pingMs: 2_000, urgentMs: 500, operationMs: 100, retryMs: 500 },
  });
  return fleet.start();
}

async function rows<T extends Record<string, unknown>>(query: string, values: unknown[] = []): Promise<T[]> {
  return apart.database.persistence.db.query<T>(query, values);
}

const operations = (states: string) =>
  rows<{ count: number }>(
    `select count(*)::int as count from agent_message m join activity a on a.id = m.activity_id
     where a.parent_id = any($1) and m.state = any($2)`,
    [groups, states.split(' ')],
  ).then(([row]) => row!.count);

/** Requests one after the other without end, as a client that tries the next address when one does not respond. */
function requestMeanwhile(urls: readonly string[]) {
  const rejections: string[] = [];
  let done = false;
  const request = async (url: string): Promise<number | null> => {
    const headers = { authorization: `Bearer ${client.token}` };
    const response = await fetch(`${url}/api/v2/activities/${groups[0]}`, { headers }).catch(() => null);
    await response?.arrayBuffer().catch(() => null);
    return response?.status ?? null;
  };
  const requesting = (async () => {
    while (!done) {
      const responses: Array<number | null> = [];
      for (const url of urls) {
        responses.push(await request(url));
        if (responses.at(-1) === 200) break;
      }
      if (responses.at(-1) !== 200) rejections.push(responses.join(' '));
      await sleep(100);
    }
  })();
  return {
    /** The statuses of requests that no process served with 200. */
    rejections: () => rejections,
    async end() {
      done = true;
      await requesting;
    },
  };
}

describe('an upgrade', { timeout: TIMEOUT_MS }, () => {
  it(`starts with ${OPERATIONS} operations that wait for their computers`, async () => {
    await startFleet(old.gateway!.url);
    await fleet.settled(TIMEOUT_MS);
    const able = fleet.computers.filter(({ machine }) => machine.blueprint.catalogue !== null);
    computers = able.map(({ computerId }) => computerId!).filter((id) => id !== null);
    await fleet.stop();
    for (let waiting = 0; waiting <= OPERATIONS; waiting += computers.length) {
      groups.push(await client.actOnSnaps(computers));
    }
    groups.push(await client.actOnSnaps(computers.slice(0, 5)));
    const expected = groups.slice(1).length * computers.length + 5;
    expect(expected).toBeGreaterThan(OPERATIONS);
    await until(async () => (await operations('queued held')) >= expected, LIMIT_MS);
    expect(await operations('queued held')).toBe(expected);
  });

  it('runs old processes on the new schema, beside new workers that get no work yet', async () => {
    await run('workers/build-bundle.ts', { project: next });
    await run('src/persistence/orm/migrate.ts', { project: next });
    await run('temporal/bootstrap-main.ts', { project: next });
    expect(await rows('select 1 from schema_migration where name = $1', [NEXT_MIGRATION])).toHaveLength(1);
    expect(await client.get('/computers?limit=1')).toMatchObject({ count: expect.any(Number) });
  });

  it('moves the waiting workflows and every process to the new build, and clients hardly notice', async () => {
    const before = await readCurrentBuild(settings);
    const worker = await apart.worker(QUEUES, { project: next });
    await until(() => worker.log().includes('gets no work before the deploy step'), LIMIT_MS);
    expect(await readCurrentBuild(settings)).toBe(before);

    const urls = [old.api!.url];
    const requested = requestMeanwhile(urls);
    try {
      await run('workers/set-current-version.ts', { project: next, args: ['--wait'] });
      expect(await readCurrentBuild(settings)).not.toBe(before);
      expect(await old.worker!.stop()).toBe(0);
      // An old API and a new worker share the work.
      groups.push(await client.actOnSnaps(computers.slice(0, 1)));
      const api = await apart.api({ gateway: false, project: next });
      const gateway = await apart.gateway({ project: next });
      await Promise.all([api.ready(), gateway.ready(), worker.ready()]);
      urls.unshift(api.url);
      expect(await old.api!.stop()).toBe(0);
      expect(await old.gateway!.stop()).toBe(0);
      client = new ApiClient(api.url, client.token);
      gatewayUrl = gateway.url;
    } finally {
      await requested.end();
    }
    expect(requested.rejections()).toEqual([]);
  });

  it('loses nothing, fails nothing and does nothing twice', async () => {
    await startFleet(gatewayUrl);
    const open = () =>
      rows('select id, status, open_count from activity where id = any($1) and completion_time is null', [groups]);
    await until(async () => (await open()).length === 0, LIMIT_MS).catch(() => undefined);
    expect(await open()).toEqual([]);
    const results = await rows<{ status: string; count: number; text: string }>(
      'select status, count(*)::int as count, min(result_text) as text from activity where parent_id = any($1) group by status',
      [groups],
    );
    const total = results.reduce((sum, { count }) => sum + count, 0);
    expect(results).toMatchObject([{ status: 'succeeded', count: total }]);
    expect(total).toBeGreaterThan(OPERATIONS);
    const executions = readExecutions(join(apart.root, 'execution-log.jsonl'));
    expect(executions.size).toBe(total);
    expect([...executions].filter(([, runs]) => runs.length !== 1)).toEqual([]);
  });

  it('ended every workflow with the build that is current', async () => {
    const build = await readCurrentBuild(settings);
    const batches = await rows<{ wf_id: string }>('select wf_id from lane where parent_id = any($1)', [groups]);
    expect(batches.length).toBeGreaterThanOrEqual(groups.length);
    for (const { wf_id: id } of batches.slice(0, 20)) {
      const handle = temporal.client.workflow.getHandle(id);
      await until(async () => (await handle.describe()).status.name !== 'RUNNING', LIMIT_MS);
      const { status, raw } = await handle.describe();
      expect(status.name).toBe('COMPLETED');
      expect(raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId).toBe(build);
      expect(raw.workflowExecutionInfo?.historyLength?.toNumber()).toBeGreaterThan(5);
    }
  });
});

const PROJECT = resolve(import.meta.dirname, '../../..');
const COPIED = ['src', 'temporal', 'workers', 'workflows', 'package.json', 'package-lock.json', 'tsconfig.json'];
const DEPENDENCIES = 'node_modules';

/** The migration that only the next build has. */
const NEXT_MIGRATION = 'Migration20991231000000NextBuild';

interface Edit {
  file: string;
  find: string;
  replace: string;
}

/** A changed order of commands in waiting workflows, guarded as a real change would be. */
const BATCH_EDITS: readonly Edit[] = [
  {
    file: 'workflows/batch.workflow.ts',
    find: ' patched, workflowInfo }',
    replace: ' patched, sleep, workflowInfo }',
  },
  {
    file: 'workflows/batch.workflow.ts',
    find: '    const progress = await activities.processPendingEvents({ batch, cancelAll });\n',
    replace:
      "    if (patched('next-build')) await sleep(1);\n    const progress = await activities.processPendingEvents({ batch, cancelAll });\n",
  },
];

const MIGRATION_EDITS: readonly Edit[] = [
  {
    file: 'src/persistence/orm/migrations/index.ts',
    find: '\n];',
    replace: `\n  { name: '${NEXT_MIGRATION}', class: ${NEXT_MIGRATION} },\n];`,
  },
  {
    file: 'src/persistence/orm/migrations/index.ts',
    find: 'import ',
    replace: `import { ${NEXT_MIGRATION} } from './migration-20991231000000-next-build.ts';\nimport `,
  },
];

const MIGRATION = `import { Migration } from '@mikro-orm/migrations';

export class ${NEXT_MIGRATION} extends Migration {
  override up(): void {
    this.addSql('create table next_build (id int primary key)');
    this.addSql("alter table activity add column next_build text not null default ''");
    this.addSql('alter table computer add column next_build text');
  }
}
`;

/**
 * Makes a tree of the version to come: this one with a patched batch workflow, hence another build id, and one migration
 * more. Its programs run like this tree's.
 *
 * @param directory - is made; dependencies are linked, not copied
 * @throws when the code no longer has the places that are changed
 */
async function makeNextBuild(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  for (const name of COPIED) await cp(join(PROJECT, name), join(directory, name), { recursive: true });
  await symlink(join(PROJECT, DEPENDENCIES), join(directory, DEPENDENCIES));
  for (const edit of [...BATCH_EDITS, ...MIGRATION_EDITS]) await apply(directory, edit);
  await writeFile(join(directory, 'src/persistence/orm/migrations/migration-20991231000000-next-build.ts'), MIGRATION);
}

async function apply(directory: string, { file, find, replace }: Edit): Promise<void> {
  const path = join(directory, file);
  const text = await readFile(path, 'utf8');
  if (!text.includes(find)) throw new Error(`${file} no longer has ${JSON.stringify(find)}`);
  await writeFile(
    path,
    text.replace(find, () => replace),
  );
}
