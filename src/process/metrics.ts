import { createServer, type Server, type ServerResponse } from 'node:http';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { droppedLogLines, type Logger } from './logger.ts';

/** How the connections of one pool stand. */
export interface PoolState {
  /** Which pool of the process. */
  name: string;
  used: number;
  idle: number;
  /** Callers that wait for a connection. */
  waiting: number;
  max: number;
}

/** What one process measures of itself, in Prometheus' text format. */
export interface Metrics {
  registry: Registry;
  /** Told of every API operation that begins; `observeRequest` ends it. */
  beginRequest(): void;
  /**
   * Records one API operation that has ended.
   *
   * @param status - the one answered; 499 where the client left before, 500 where the answer broke off
   */
  observeRequest(operation: string, status: number, seconds: number): void;
  /** Shows pools of database connections, read at each scrape. */
  watchPools(read: () => readonly PoolState[]): void;
  close(): Promise<void>;
}

export interface MetricsOptions {
  /** Where to listen: the first free port from `metricsPort` on is taken and logged. */
  config: { metricsHost: string; metricsPort: number };
  logger: Logger;
  /** What the process is there for: `api`, `gateway`, task queues. */
  serves?: readonly string[];
  /** Why the process cannot do its work now; empty when it can. Answered by `/readyz`. */
  obstacles?: () => readonly string[] | Promise<readonly string[]>;
  /** Address of metrics that a library of this process serves by itself; they are shown after our own. */
  upstream?: string | null;
}

const PORTS_TRIED = 100;
const UPSTREAM_LIMIT_MS = 5_000;
const REQUEST_BUCKETS_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * Measures this process and serves it: `/metrics`, and for health checks `/healthz` (the process answers) and `/readyz`
 * (503 with the reasons while it cannot do its work).
 */
export async function startMetrics(options: MetricsOptions): Promise<Metrics> {
  const { config, logger } = options;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  countDroppedLines(registry);
  showParts(registry, options.serves ?? []);
  const requests = requestMetrics(registry);
  const pages: Record<string, (res: ServerResponse) => Promise<void>> = {
    '/metrics': async (res) => {
      const text = (await registry.metrics()) + (await readUpstream(options.upstream ?? null));
      res.writeHead(200, { 'Content-Type': registry.contentType }).end(text);
    },
    '/healthz': async (res) => sendJson(res, 200, { alive: true }),
    '/readyz': async (res) => {
      const reasons = (await options.obstacles?.()) ?? [];
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
  logger.info({ metrics: `http://${shownHost(config.metricsHost)}:${port}/metrics` }, 'serving metrics');
  return {
    registry,
    ...requests,
    watchPools: (read) => watchPools(registry, read),
    close: () => closeServer(server),
  };
}

function requestMetrics(registry: Registry): Pick<Metrics, 'beginRequest' | 'observeRequest'> {
  const seconds = new Histogram({
    name: 'flotilla_request_duration_seconds',
    help: 'Time from the first line of an API request to its answer',
    labelNames: ['operation', 'status'] as const,
    buckets: REQUEST_BUCKETS_SECONDS,
    registers: [registry],
  });
  const inFlight = new Gauge({
    name: 'flotilla_requests_in_flight',
    help: 'API requests that are not answered yet',
    registers: [registry],
  });
  const errors = new Counter({
    name: 'flotilla_request_errors_total',
    help: 'API requests answered with a status of 500 or above, or whose answer broke off',
    registers: [registry],
  });
  return {
    beginRequest: () => inFlight.inc(),
    observeRequest: (operation, status, duration) => {
      inFlight.dec();
      if (status >= 500) errors.inc();
      seconds.labels(operation, String(status)).observe(duration);
    },
  };
}

function countDroppedLines(registry: Registry): void {
  const lines: Counter = new Counter({
    name: 'flotilla_log_lines_dropped_total',
    help: 'Lines of the log that were dropped because nobody took them',
    registers: [registry],
    collect() {
      lines.reset();
      lines.inc(droppedLogLines());
    },
  });
}

/** A process that ended shows nothing; that none of its kind is left can only be told by what each says of itself. */
function showParts(registry: Registry, parts: readonly string[]): void {
  const serves = new Gauge({
    name: 'flotilla_serves',
    help: 'What this process is there for: api, gateway or a task queue; always 1',
    labelNames: ['part'] as const,
    registers: [registry],
  });
  for (const part of parts) serves.set({ part }, 1);
}

function watchPools(registry: Registry, read: () => readonly PoolState[]): void {
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
  gauge('flotilla_database_connections_max', 'Bound of the pool', ({ max }) => ({ '': max }));
  gauge('flotilla_database_pool_waiting', 'Callers that wait for a database connection', ({ waiting }) => ({
    '': waiting,
  }));
}

function sendJson(res: ServerResponse, status: number, body: object): void {
  res.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' }).end(`${JSON.stringify(body)}\n`);
}

/** What the library serves; nothing when it does not answer, because our own metrics are worth showing alone. */
async function readUpstream(url: string | null): Promise<string> {
  if (url === null) return '';
  const answer = await fetch(url, { signal: AbortSignal.timeout(UPSTREAM_LIMIT_MS) }).catch(() => null);
  return answer?.ok ? `\n${await answer.text()}` : '';
}

function shownHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

async function listenOnFreePort(server: Server, at: MetricsOptions['config']): Promise<number> {
  const { metricsHost: host, metricsPort: first } = at;
  for (let port = first; port < first + PORTS_TRIED && port <= 65_535; port++) {
    if (await listens(server, host, port)) return port;
  }
  throw new Error(`No free port for metrics from ${first} on`);
}

function listens(server: Server, host: string, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException) => {
      server.off('listening', onListening);
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(false);
      else reject(error);
    };
    const onListening = () => {
      server.off('error', onError);
      resolve(true);
    };
    server.once('error', onError).once('listening', onListening).listen(port, host);
  });
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
