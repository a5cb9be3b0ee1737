import { createServer } from 'node:net';
import { Registry } from 'prom-client';
import { afterEach, describe, expect, it } from 'vitest';
import { createGatewayMetrics } from '../../../src/gateway/http/metrics.ts';
import { createLogger, type Logger } from '../../../src/process/logger.ts';
import { type Metrics, startMetrics } from '../../../src/process/metrics.ts';

let metrics: Metrics;
let address = '';

const logger = {
  ...createLogger({ level: 'silent', role: 'test' }),
  info: (fields: { metrics: string }) => {
    address = fields.metrics;
  },
} as unknown as Logger;

afterEach(() => metrics.close());

const scrape = async () => (await fetch(address)).text();

/** A port that was free a moment ago. */
async function aPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('metrics of a process', () => {
  it('counts requests in flight, finished and failed', async () => {
    metrics = await startMetrics({ config: { metricsHost: '127.0.0.1', metricsPort: await aPort() }, logger });
    metrics.startRequest();
    metrics.startRequest();
    metrics.endRequest('getComputers', 500, 0.02);
    const text = await scrape();
    expect(text).toContain('flotilla_requests_in_flight 1\n');
    expect(text).toContain('flotilla_request_errors_total 1\n');
    expect(text).toContain('flotilla_request_duration_seconds_count{operation="getComputers",status="500"} 1\n');
    expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds \d/m);
  });

  it('shows the roles of the process', async () => {
    const config = { metricsHost: '127.0.0.1', metricsPort: await aPort() };
    metrics = await startMetrics({ config, logger, serves: ['api', 'gateway'] });
    const lines = (await scrape()).match(/^flotilla_serves.*$/gm);
    expect(lines).toEqual(['flotilla_serves{part="api"} 1', 'flotilla_serves{part="gateway"} 1']);
  });

  it('shows pools as they are at the scrape', async () => {
    metrics = await startMetrics({ config: { metricsHost: '127.0.0.1', metricsPort: await aPort() }, logger });
    let waiting = 0;
    metrics.registerPools(() => [{ name: 'main', used: 3, idle: 1, waiting, max: 10 }]);
    expect(await scrape()).toContain('flotilla_database_connections{pool="main",state="used"} 3\n');
    waiting = 7;
    const text = await scrape();
    expect(text).toContain('flotilla_database_pool_waiting{pool="main"} 7\n');
    expect(text).toContain('flotilla_database_connections_max{pool="main"} 10\n');
  });

  it('takes the next port when the first is taken', async () => {
    const firstPort = await aPort();
    const config = { metricsHost: '127.0.0.1', metricsPort: firstPort };
    metrics = await startMetrics({ config, logger });
    const second = await startMetrics({ config, logger });
    expect(Number(new URL(address).port)).toBeGreaterThan(firstPort);
    await second.close();
  });
});

describe('metrics of the gateway', () => {
  it('hostile string: a message type that an agent made up is no label', async () => {
    metrics = await startMetrics({ config: { metricsHost: '127.0.0.1', metricsPort: await aPort() }, logger });
    const registry = new Registry();
    const gateway = createGatewayMetrics(registry);
    gateway.received(['snaps', 'made-up-1', 'made-up-2', '']);
    const text = await registry.metrics();
    expect(text).toContain('flotilla_gateway_messages_received_total{type="snaps"} 1\n');
    expect(text).toContain('flotilla_gateway_messages_received_total{type="other"} 3\n');
    expect(text).not.toContain('made-up');
  });
});
