import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/process/logger.ts';
import { connectClient, type TemporalClient } from '../../../temporal/client/connection.ts';
import { type ActivityBody, ApiClient } from '../../../tools/harness/stack-client.ts';
import { readExecutions } from '../../../tools/harness/stack-fleet.ts';
import { get } from '../../../tools/harness/stack-programs.ts';
import { createFleet, type Fleet } from '../../../tools/simulator/fleet.ts';
import { signalProcess } from '../../../tools/stack/processes/processes.ts';
import { createTopology, officialServerDirectory, type TestTopology } from './npm-start.ts';

const TIMEOUT_MS = 300_000;
const COMPUTERS = 15;
const PASSWORD = 'a password of the topology';

const programs = await officialServerDirectory().catch((error: Error) => {
  console.warn(`the topology is not tested: ${error.message}`);
  return null;
});

describe.skipIf(programs === null)('every part a process of its own', { timeout: TIMEOUT_MS }, () => {
  let topology: TestTopology;
  let fleet: Fleet;
  let temporal: TemporalClient;
  let a: ApiClient;
  let b: ApiClient;
  let able: number[];

  beforeAll(async () => {
    topology = await createTopology(programs!, {
      FLOTILLA_ADMIN_PASSWORD: PASSWORD,
      FLOTILLA_LOG_LEVEL: 'debug',
      FLOTILLA_WEB_PAGE: 'true',
      FLOTILLA_ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 5).toString('base64')}`,
    });
    // Where nothing was restored it finds nothing to repair.
    await topology.start(['--activity-workers', '2', '--after-restore']);
    fleet = createFleet({
      computers: COMPUTERS,
      url: topology.gateways.join(','),
      logger: createLogger({ level: 'silent', role: 'fleet' }),
      stateFile: join(topology.root, 'fleet.jsonl'),
      executionLogFile: join(topology.root, 'execution-log.jsonl'),
      times: { pingMs: 1000, urgentMs: 500, operationMs: 1000, retryMs: 500 },
      shares: {},
    });
    await fleet.start();
    await fleet.settled(120_000);
    able = fleet.computers
      .filter((computer) => computer.machine.blueprint.catalogue !== null)
      .map((computer) => computer.computerId!);
    [a, b] = [new ApiClient(topology.apis[0]!), new ApiClient(topology.apis[1]!)];
    await Promise.all([a, b].map((api) => api.login('admin@example.com', PASSWORD)));
    temporal = await connectClient({
      temporalAddress: topology.temporalAddress,
      temporalTls: topology.temporalTls,
      temporalNamespace: 'flotilla',
      encryptionKeys: [{ id: 'k1', key: Buffer.alloc(32, 5) }],
    });
  }, TIMEOUT_MS);

  afterAll(async () => {
    await fleet?.stop();
    await temporal?.close();
    await topology?.dispose();
  }, 60_000);

  const status = (url: string, token: string) =>
    fetch(`${url}/api/v2/person`, { headers: { authorization: `Bearer ${token}` } }).then(
      (response) => response.status,
    );

  it('repaired a restored database before it served', () => {
    const output = topology.output();
    expect(output).toContain('after the restore: 0 operations');
    expect(output.indexOf('after the restore')).toBeLessThan(output.indexOf('APIs, gateways and workers run'));
  });

  it('serves the web page at every API, and at no gateway', async () => {
    const open = (url: string) => fetch(url, { headers: { accept: 'text/html' } });
    for (const url of topology.apis) {
      expect(topology.output()).toContain(`${url}/`);
      const page = await open(`${url}/`);
      expect(page.headers.get('content-security-policy')).toContain("default-src 'self'");
      const [, path] = /<script [^>]*src="(\/assets\/[^"]+\.js)"/.exec(await page.text())!;
      const script = await fetch(`${url}${path}`);
      expect([script.status, script.headers.get('content-type')]).toEqual([200, expect.stringContaining('javascript')]);
      expect((await script.text()).length).toBeGreaterThan(1000);
    }
    for (const url of topology.gateways) expect((await open(`${url}/`)).status).toBe(404);
  });

  it('takes a token of one API at the other, until it is revoked', async () => {
    const own = new ApiClient(topology.apis[0]!);
    await own.login('admin@example.com', PASSWORD);
    expect(await status(topology.apis[1]!, own.token)).toBe(200);
    expect((await own.request('POST', '/logout')).status).toBeLessThan(300);
    await expect.poll(() => status(topology.apis[1]!, own.token), { interval: 200 }).toBe(401);
  });

  it('carries out at all gateways what one API accepted, and shows it at the other', async () => {
    const id = await a.actOnSnaps(able);
    const done = await b.pollActivity(id, 120_000);
    expect(done.activity_status).toBe('succeeded');
    expect(new Set(done.children.map((child) => child.activity_status))).toEqual(new Set(['succeeded']));
    for (const name of ['gateway-1', 'gateway-2']) expect(topology.log(name)).toContain('exchange');
    expect(fleet.violations.size).toBe(0);
  });

  it('lets the workers of their own queues serve schedules and reports', async () => {
    const profile = await a.post<{ id: number }>('/usg-profiles', {
      title: 'Weekly audit',
      mode: 'audit',
      benchmark: 'cis_level1_server',
      schedule: 'FREQ=WEEKLY',
      start_date: '2020-01-01T00:00:00Z',
      all_computers: true,
    });
    const results = () =>
      b.get<{ last_run_results: { timestamp: string | null; report_uri: string | null } }>(
        `/usg-profiles/${profile.id}`,
      );
    const ended = { timestamp: expect.any(String), report_uri: expect.stringMatching(/^(?!in-progress)/) };
    await expect.poll(results, { timeout: 120_000, interval: 250 }).toMatchObject({ last_run_results: ended });
    const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
    const report = await b.get<ActivityBody>(
      `/usg-profiles/${profile.id}/report?start_date=${day(-1)}&end_date=${day(1)}`,
    );
    // Nobody has requested these days before: an activity makes the report.
    expect(report.id).not.toBeNull();
    expect((await a.pollActivity(report.id, 60_000)).activity_status).toBe('succeeded');
    const { events } = await temporal.client.workflow.getHandle(`activity/${report.id}`).fetchHistory();
    const scheduled = events?.flatMap((event) => event.activityTaskScheduledEventAttributes ?? []);
    expect(scheduled).toMatchObject([{ activityType: { name: 'writeReport' }, taskQueue: { name: 'fleet-report' } }]);

    const queues = new Set<string>();
    const readQueues = async () => {
      for await (const workflow of temporal.client.workflow.list()) queues.add(workflow.taskQueue);
      return [...queues];
    };
    // The list comes after the workflows, and the reconciler's starts once a minute.
    const used = ['fleet-activity', 'fleet-schedule'];
    await expect.poll(readQueues, { timeout: 90_000, interval: 500 }).toEqual(expect.arrayContaining(used));
  });

  it('goes on without one process of each kind, and does everything once', async () => {
    const before = await a.actOnSnaps(able, { snaps: [{ name: 'jq' }] });
    const victims = ['api-1', 'gateway-1', 'activity-worker-1', 'schedule-worker-1', 'report-worker-1'];
    for (const pid of victims.map((name) => topology.pid(name))) expect(signalProcess(pid, 'SIGKILL')).toBe(true);
    const during = await b.actOnSnaps(able, { snaps: [{ name: 'hello-world' }] });
    for (const id of [before, during]) {
      expect((await b.pollActivity(id, 180_000)).activity_status).toBe('succeeded');
    }
    const executions = readExecutions(join(topology.root, 'execution-log.jsonl'));
    expect([...executions].filter(([, list]) => list.length !== 1)).toEqual([]);
    expect(fleet.violations.size).toBe(0);
    for (const name of victims) expect(topology.output()).toContain(`${name} ended`);
  });

  const generated = () =>
    JSON.parse(readFileSync(join(topology.root, 'topology', 'secrets.json'), 'utf8')) as Record<string, string>;

  it('serves the web UI to whoever has its token', async () => {
    expect((await get(`${topology.temporalUi}/`)).status).toBe(401);
    const headers = { authorization: `Bearer ${generated()['temporalUiToken']}` };
    const read = (path: string) =>
      fetch(`${topology.temporalUi}${path}`, { headers }).then((response) => response.text());
    expect(await read('/')).toContain('<html');
    const count = JSON.parse(await read('/api/v1/namespaces/flotilla/workflow-count')) as { count: string };
    expect(Number(count.count)).toBeGreaterThan(0);
  });

  it('lets nobody use the Temporal server without the certificate of the topology', async () => {
    await expect(Connection.connect({ address: topology.temporalAddress, connectTimeout: 3000 })).rejects.toThrow();
  });

  it('gives Flotilla and the Temporal server a role each, which can do nothing else', async () => {
    const { databasePassword, temporalDatabasePassword } = generated();
    const { port } = new URL(topology.databaseUrl());
    const query = async (user: string, password: string | undefined, database: string) => {
      const client = new pg.Client({ host: '127.0.0.1', port: Number(port), user, password, database });
      try {
        await client.connect();
        const { rows } = await client.query(
          `select current_user, rolsuper, rolcreaterole, rolcreatedb,
             (select count(*)::int from pg_class c where relnamespace = 'public'::regnamespace and relowner <> r.oid) as others
           from pg_roles r where rolname = current_user`,
        );
        return Object.values(rows[0]).join();
      } catch (error) {
        return (error as { code?: string }).code;
      } finally {
        await client.end().catch(() => undefined);
      }
    };
    const nothing = 'false,false,false,0';
    expect(await query('flotilla', databasePassword, 'flotilla')).toBe(`flotilla,${nothing}`);
    expect(await query('temporal', temporalDatabasePassword, 'temporal')).toBe(`temporal,${nothing}`);
    expect(await query('temporal', temporalDatabasePassword, 'flotilla')).toBe('42501');
    expect(await query('flotilla', databasePassword, 'temporal')).toBe('42501');
  });

  it('ends in order and leaves nothing running', async () => {
    await fleet.stop();
    expect(await topology.stop()).toBe(0);
    expect(topology.output()).toContain('Flotilla has stopped');
    expect(topology.processes()).toEqual([]);
  });
});
