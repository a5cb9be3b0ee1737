import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { droppedLogLines, type Logger } from './logger.ts';

export interface PoolState {
  name: string;
  used: number;
  idle: number;
  waiting: number;
  max: number;
}

export interface Metrics {
  registry: Registry;
  startRequest(): void;
  /** @param status - as sent; 499 when the client disconnected before, 500 when the response was cut off */
  endRequest(operation: string, status: number, seconds: number): void;
  registerPools(read: () => readonly PoolState[]): void;
  close(): Promise<void>;
}

interface MetricsOptions {
  /** Listens on the first free port from `metricsPort` on, and logs it. */
  config: { metricsHost: string; metricsPort: number };
  logger: Logger;
  serves?: readonly string[];
  readinessFailures?: () => readonly string[] | Promise<readonly string[]>;
  /** URL of metrics that a library of this process serves itself; they are appended to ours. */
  upstream?: string | null;
}

const PORTS_TRIED = 100;
const UPSTREAM_TIMEOUT_MS = 5_000;
const REQUEST_BUCKETS_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Serves `/metrics`, `/healthz` (200 while the process runs) and `/readyz` (503 with the reasons while not ready). */
export async function startMetrics(options: MetricsOptions): Promise<Metrics> {
  const { config, logger } = options;
  const registry = new Registry();
  registerDroppedLines(registry, logger);
  registerServes(registry, options.serves ?? []);
  const requests = registerRequests(registry);
  const pages: Record<string, (res: ServerResponse) => Promise<void>> = {
    '/metrics': async (res) => {
      registerProcess(registry);
      const text = (await registry.metrics()) + (await fetchUpstream(options.upstream ?? null));
      res.writeHead(200, { 'Content-Type': registry.contentType }).end(text);
    },
    '/healthz': async (res) => sendJson(res, 200, { alive: true }),
    '/readyz': async (res) => {
      const reasons = (await options.readinessFailures?.()) ?? [];
      sendJson(res, reasons.length === 0 ? 200 : 503, { ready: reasons.length === 0, reasons });
    },
  };
  const server = createServer((req, res) => {
    const page = req.method === 'GET' || req.method === 'HEAD' ? pages[(req.url ?? '').split('?')[0]!] : undefined;
    if (!page) res.writeHead(404).end();
    else page(res).catch(() => res.headersSent || res.writeHead(500).end());
  });
  const port = await listenOnFreePort(server, config);
  server.unref();
  const host = config.metricsHost.includes(':') ? `[${config.metricsHost}]` : config.metricsHost;
  logger.info({ metrics: `http://${host}:${port}/metrics` }, 'serving metrics');
  return {
    registry,
    ...requests,
    registerPools: (read) => registerPools(registry, read),
    close: () => closeServer(server),
  };
}

/**
 * With the first reading, because sampling the event loop's delay takes 0.1 % of a core of an idle process, and 0.6 %
 * with the default of every 10 ms. Idempotent.
 */
function registerProcess(registry: Registry): void {
  if (registry.getSingleMetric('nodejs_eventloop_lag_seconds')) return;
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 100 });
}

function registerRequests(registry: Registry): Pick<Metrics, 'startRequest' | 'endRequest'> {
  const seconds = new Histogram({
    name: 'flotilla_request_duration_seconds',
    help: 'Time from the first line of an API request to its response',
    labelNames: ['operation', 'status'] as const,
    buckets: REQUEST_BUCKETS_SECONDS,
    registers: [registry],
  });
  const inFlight = new Gauge({
    name: 'flotilla_requests_in_flight',
    help: 'API requests in flight',
    registers: [registry],
  });
  const errors = new Counter({
    name: 'flotilla_request_errors_total',
    help: 'API requests with a status of 500 or above, or whose response was cut off',
    registers: [registry],
  });
  return {
    startRequest: () => inFlight.inc(),
    endRequest: (operation, status, duration) => {
      inFlight.dec();
      if (status >= 500) errors.inc();
      seconds.labels(operation, String(status)).observe(duration);
    },
  };
}

function registerDroppedLines(registry: Registry, logger: Logger): void {
  const lines: Counter = new Counter({
    name: 'flotilla_log_lines_dropped_total',
    help: 'Log lines dropped because their reader was too slow',
    registers: [registry],
    collect() {
      lines.reset();
      lines.inc(droppedLogLines(logger));
    },
  });
}

/** Lets an alert notice that no process of a role is left. */
function registerServes(registry: Registry, roles: readonly string[]): void {
  const serves = new Gauge({
    name: 'flotilla_serves',
    help: 'Role of this process: api, gateway or a task queue; always 1',
    labelNames: ['part'] as const,
    registers: [registry],
  });
  for (const part of roles) serves.set({ part }, 1);
}

function registerPools(registry: Registry, read: () => readonly PoolState[]): void {
  const gauge = (name: string, help: string, values: (pool: PoolState) => Record<string, number>): void => {
    const collected: Gauge<'pool' | 'state'> = new Gauge({
      name,
      help,
      labelNames: ['pool', 'state'] as const,
      registers: [registry],
      collect() {
        for (const pool of read())
          for (const [state, count] of Object.entries(values(pool)))
            collected.set(state === '' ? { pool: pool.name } : { pool: pool.name, state }, count);
      },
    });
  };
  gauge('flotilla_database_connections', 'Open database connections by pool and state', ({ used, idle }) => ({
    used,
    idle,
  }));
  gauge('flotilla_database_connections_max', 'Maximum size of the pool', ({ max }) => ({ '': max }));
  gauge('flotilla_database_pool_waiting', 'Callers waiting for a database connection', ({ waiting }) => ({
    '': waiting,
  }));
}

function sendJson(res: ServerResponse, status: number, body: object): void {
  res.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' }).end(`${JSON.stringify(body)}\n`);
}

/** Empty when the library does not respond: our own metrics are useful without it. */
async function fetchUpstream(url: string | null): Promise<string> {
  if (url === null) return '';
  const response = await fetch(url, { signal: AbortSignal.timeout(UPSTREAM_TIMEOUT_MS) }).catch(() => null);
  return response?.ok ? `\n${await response.text()}` : '';
}

async function listenOnFreePort(server: Server, at: MetricsOptions['config']): Promise<number> {
  const { metricsHost: host, metricsPort: first } = at;
  for (let port = first; port < first + PORTS_TRIED && port <= 65_535; port++) {
    if (await tryListen(server, host, port)) return port;
  }
  throw new Error(`No free port for metrics from ${first} on`);
}

async function tryListen(server: Server, host: string, port: number): Promise<boolean> {
  try {
    await once(server.listen(port, host), 'listening');
    return true;
  } catch (error) {
    if (['EADDRINUSE', 'EACCES'].includes((error as NodeJS.ErrnoException).code!)) return false;
    throw error;
  }
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
