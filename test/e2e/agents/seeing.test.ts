import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestStack } from '../../../tools/harness/stack.ts';
import { environmentOf } from '../../../tools/harness/stack-processes.ts';
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from '../../support/http/servers.ts';
import { script } from '../../support/scripts/scripts.ts';
import { metricsIn, readAlertRules, readPanels } from '../../support/stack/deploy-files.ts';
import { Scenario } from '../../support/stack/stack-scenario.ts';

const TIMEOUT_MS = 180_000;
const CANARY = `canary-${crypto.randomUUID()}`;

/** Written by the scraping server. */
const OF_PROMETHEUS = ['up'];
/** The SDK exposes these after the first such event. */
const SEEN_WHEN_IT_HAPPENS = ['temporal_workflow_task_execution_failed_total'];

function logLines(stack: TestStack): Array<Record<string, unknown>> {
  const directory = join(stack.dataDir, 'logs');
  return readdirSync(directory)
    .flatMap((name) => readFileSync(join(directory, name), 'utf8').split('\n'))
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Each process logs the address of its metrics. */
function metricsAddresses(stack: TestStack): string[] {
  return logLines(stack).flatMap(({ metrics }) => (typeof metrics === 'string' ? [metrics] : []));
}

/** Names of all metrics of a scrape, also of those without a value. */
function namesOf(text: string): string[] {
  const declared = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  return declared.flatMap(([, name, type]) =>
    type === 'histogram' ? [name!, `${name}_bucket`, `${name}_sum`, `${name}_count`] : [name!],
  );
}

function boundOf(histogram: string, seconds: number): RegExp {
  return new RegExp(`^${histogram}_seconds_bucket\\{.*task_queue="fleet-report".*le="${seconds}"`, 'm');
}

/** A running stack from the view of operators. */
describe('a running stack', { timeout: TIMEOUT_MS }, () => {
  let receiver: OtlpReceiver;
  let scenario: Scenario;
  beforeAll(async () => {
    receiver = await startOtlpReceiver();
    scenario = await Scenario.start(2, {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_BSP_SCHEDULE_DELAY: '200',
      OTEL_TRACES_SAMPLER: 'parentbased_always_off',
      FLOTILLA_LOG_LEVEL: 'debug',
    });
  }, TIMEOUT_MS);
  afterAll(async () => {
    await scenario?.end();
    await receiver?.close();
  }, 60_000);

  /** Runs a script on the first computer with a trace, until it ends. @returns the id of the group */
  async function runToEnd(traceparent: string): Promise<number> {
    const id = await execute(traceparent);
    await scenario.api.pollActivity(id, 90_000);
    return id;
  }

  async function execute(traceparent: string, when: { deliver_after?: string } = {}): Promise<number> {
    const { api, stack, computers } = scenario;
    const made = await api.post<{ id: number }>(
      '/scripts',
      script({ title: `${CANARY} ${crypto.randomUUID()}`, code: `#!/bin/sh\n# ${CANARY}\ntrue` }),
    );
    const response = await fetch(`${stack.url}/api/v2/scripts/${made.id}:execute`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${api.token}`, 'Content-Type': 'application/json', traceparent },
      body: JSON.stringify({ query: `id:${computers[0]}`, ...when }),
    });
    const { id } = (await response.json()) as { id: number };
    return id;
  }

  /** Makes a report on a profile without runs: the only work whose Temporal activities are not local. */
  async function report(): Promise<void> {
    const { api } = scenario;
    const { id } = await api.post<{ id: number }>('/usg-profiles', {
      title: `Report ${crypto.randomUUID()}`,
      mode: 'audit',
      benchmark: 'cis_level1_server',
      schedule: 'FREQ=WEEKLY',
      start_date: '2099-01-01T00:00:00Z',
      all_computers: true,
    });
    const requested = await api.get<{ id: number }>(`/usg-profiles/${id}/report?start_date=2026-01-01`);
    expect(await api.pollActivity(requested.id, 60_000)).toMatchObject({ activity_status: 'succeeded' });
  }

  const scrape = async (addresses: readonly string[]): Promise<string[]> =>
    await Promise.all(addresses.map(async (address) => (await fetch(address)).text()));

  it('shows one trace from the request to the result', async () => {
    const traceId = crypto.randomUUID().replaceAll('-', '');
    const client = traceId.slice(0, 16);
    const group = await runToEnd(`00-${traceId}-${client}-01`);
    const mine = (): ReceivedSpan[] => receiver.spans.filter((span) => span.traceId === traceId);
    const named = (name: string, service?: string): ReceivedSpan | undefined =>
      mine().find((span) => span.name === name && (service === undefined || span.service === service));
    const parents: Array<[string, string, string]> = [
      ['database transaction', 'flotilla-api', 'executeScript'],
      ['outbox start', 'flotilla-worker', 'executeScript'],
      ['StartWorkflow:ScriptRun', 'flotilla-worker', 'outbox start'],
      ['RunWorkflow:ScriptRun', 'flotilla-worker', 'StartWorkflow:ScriptRun'],
      ['StartActivity:queueMessage', 'flotilla-worker', 'RunWorkflow:ScriptRun'],
      ['RunActivity:queueMessage', 'flotilla-worker', 'StartActivity:queueMessage'],
      ['StartActivity:recordReport', 'flotilla-worker', 'RunWorkflow:ScriptRun'],
      ['deliver execute-script', 'flotilla-api', 'executeScript'],
      ['result execute-script', 'flotilla-api', 'executeScript'],
    ];
    // Processes send their spans independently, in any order.
    const missing = () => parents.filter(([name, service]) => !named(name, service));
    await expect.poll(missing, { timeout: 60_000 }).toEqual([]);
    const request = named('executeScript')!;
    expect(request).toMatchObject({ service: 'flotilla-api', parentSpanId: client, failed: false });
    expect(request.attributes).toMatchObject({ 'http.response.status_code': 200 });
    for (const [name, service, parent] of parents) {
      const parentSpanId = named(parent)!.spanId;
      expect(named(name, service), name).toMatchObject({ service, parentSpanId, failed: false });
    }
    expect(named('RunActivity:queueMessage')!.attributes).toMatchObject({
      'flotilla.workflow_id': `activity/${group}`,
    });
    const inOrder = ['executeScript', 'outbox start', 'deliver execute-script', 'result execute-script'];
    const starts = inOrder.map((name) => named(name)!.startMs);
    expect(starts).toEqual(starts.toSorted((a, b) => a - b));
    expect(new Set(mine().map(({ spanId }) => spanId)).size).toBe(mine().length);
  });

  it('logs what failed on its computer as such, without a warning', async () => {
    const made = await scenario.api.post<{ id: number }>(
      '/scripts',
      script({ title: crypto.randomUUID(), code: '#!/bin/sh\nexit 1' }),
    );
    const { id } = await scenario.api.post<{ id: number }>(`/scripts/${made.id}:execute`, {
      query: `id:${scenario.computers[0]}`,
    });
    await scenario.api.pollActivity(id, 90_000);
    const mine = () => logLines(scenario.stack).filter(({ workflowId }) => workflowId === `activity/${id}`);
    await expect.poll(() => mine().map(({ msg }) => msg)).toContain('an operation failed on its computer');
    expect(mine().filter(({ level, err }) => Number(level) >= 40 || err !== undefined)).toEqual([]);
  });

  it('shows what was canceled as ended, not as failed', async () => {
    const traceId = crypto.randomUUID().replaceAll('-', '');
    const group = await execute(`00-${traceId}-${traceId.slice(0, 16)}-01`, { deliver_after: '2099-01-01T00:00:00Z' });
    const mine = (name: string) => receiver.spans.filter((span) => span.traceId === traceId && span.name === name);
    await expect.poll(() => mine('RunActivity:queueMessage').length, { timeout: 30_000 }).toBeGreaterThan(0);
    await scenario.api.post('/activities/cancel', { activity_ids: [group] });
    const ended = () => mine('RunWorkflow:ScriptRun').map(({ failed }) => failed);
    await expect.poll(ended, { timeout: 30_000 }).toEqual([false]);
  });

  it('records nothing of a request whose client does not', async () => {
    const traceId = crypto.randomUUID().replaceAll('-', '');
    await runToEnd(`00-${traceId}-${traceId.slice(0, 16)}-00`);
    expect(receiver.spans.filter((span) => span.traceId === traceId)).toEqual([]);
  });

  it('SECRET-leak: no code, password, token or key is in a span', async () => {
    const { stack, api } = scenario;
    const all = receiver.bodies.join('\n');
    expect(receiver.spans.length).toBeGreaterThan(5);
    const secrets = [CANARY, api.token, 'Scenario-4711', 'Bearer ', new URL(stack.databaseUrl()).password];
    const [worker] = stack.processes('worker');
    for (const name of ['FLOTILLA_JWT_SECRET', 'FLOTILLA_ENCRYPTION_KEYS'])
      secrets.push(environmentOf(worker!.pid, name)!);
    for (const secret of secrets) expect(all.includes(secret), secret.slice(0, 6)).toBe(false);
  });

  it('shows every metric that the dashboard and the alert rules name', async () => {
    const addresses = metricsAddresses(scenario.stack);
    const exprs = [
      ...readPanels().flatMap(({ targets }) => targets!.map(({ expr }) => expr)),
      ...readAlertRules().map(({ expr }) => expr),
    ];
    const wanted = new Set(exprs.flatMap(metricsIn));
    for (const name of [...OF_PROMETHEUS, ...SEEN_WHEN_IT_HAPPENS]) wanted.delete(name);
    expect(wanted.size).toBeGreaterThan(30);
    await report();
    const missing = async (): Promise<string[]> => {
      const names = new Set((await scrape(addresses)).flatMap(namesOf));
      return [...wanted].filter((name) => !names.has(name));
    };
    await expect.poll(missing, { timeout: 100_000, interval: 1_000 }).toEqual([]);
    // Percentiles are exact only at bucket bounds.
    const waits = (await scrape(addresses)).join('\n');
    for (const bound of [5, 300]) expect(waits).toMatch(boundOf('temporal_activity_schedule_to_start_latency', bound));
  });

  it('has lines of the log that name the trace, the workflow and the batch', async () => {
    const traceId = crypto.randomUUID().replaceAll('-', '');
    await runToEnd(`00-${traceId}-${traceId.slice(0, 16)}-01`);
    const lines = logLines(scenario.stack).filter((line) => line['trace_id'] === traceId);
    expect(lines.find(({ role, msg }) => role === 'api' && msg === 'request completed')).toMatchObject({
      requestId: expect.any(String),
      status: 200,
      span_id: expect.stringMatching(/^[\da-f]{16}$/),
    });
    expect(lines.find(({ role, msg }) => role === 'worker' && msg === 'workflow started')).toMatchObject({
      activityId: expect.any(Number),
      workflowId: expect.stringMatching(/^activity\//),
      span_id: expect.stringMatching(/^[\da-f]{16}$/),
    });
  });
});
