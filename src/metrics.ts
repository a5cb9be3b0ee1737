import { createServer, type Server } from 'node:http';
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import type { Logger } from './logger.ts';

/** What one process measures of itself, in Prometheus' text format. */
export interface Metrics {
  registry: Registry;
  /** Records one answered API operation. */
  observeRequest(operation: string, status: number, seconds: number): void;
  close(): Promise<void>;
}

const LOOPBACK = '127.0.0.1';
const PORTS_TRIED = 100;
const REQUEST_BUCKETS_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Measures this process and serves it on loopback, on the first free port from `firstPort` on; the port is logged. */
export async function startMetrics(firstPort: number, logger: Logger): Promise<Metrics> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'flotilla_request_duration_seconds',
    help: 'Time from the first line of an API request to its answer',
    labelNames: ['operation', 'status'] as const,
    buckets: REQUEST_BUCKETS_SECONDS,
    registers: [registry],
  });
  const server = createServer((req, res) => {
    if (req.url !== '/metrics') {
      res.writeHead(404).end();
      return;
    }
    registry.metrics().then(
      (text) => res.writeHead(200, { 'Content-Type': registry.contentType }).end(text),
      () => res.writeHead(500).end(),
    );
  });
  const port = await listenOnFreePort(server, firstPort);
  server.unref();
  logger.info({ metrics: `http://${LOOPBACK}:${port}/metrics` }, 'serving metrics');
  return {
    registry,
    observeRequest: (operation, status, seconds) => requests.labels(operation, String(status)).observe(seconds),
    close: () => closeServer(server),
  };
}

async function listenOnFreePort(server: Server, firstPort: number): Promise<number> {
  for (let port = firstPort; port < firstPort + PORTS_TRIED && port <= 65_535; port++) {
    if (await listens(server, port)) return port;
  }
  throw new Error(`No free port for metrics from ${firstPort} on`);
}

function listens(server: Server, port: number): Promise<boolean> {
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
    server.once('error', onError).once('listening', onListening).listen(port, LOOPBACK);
  });
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
