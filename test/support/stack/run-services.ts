import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Something that a test run has once: started at the first request for it, stopped at the end of the run. */
export interface RunService {
  start(): Promise<{ answer: Record<string, string>; stop?: () => Promise<void> }>;
}

/**
 * Serves the run's services to the processes of the test files, so that a service without users never starts.
 * `GET /<name>` returns the service's JSON, or 500 with the reason.
 */
export async function serveRunServices(
  services: Record<string, RunService>,
): Promise<{ url: string; close(): Promise<void> }> {
  const started = new Map<string, ReturnType<RunService['start']>>();
  const server: Server = createServer((request, response) => {
    const name = (request.url ?? '').slice(1);
    const service = services[name];
    const running = started.get(name) ?? service?.start();
    if (!running) return response.writeHead(404).end(`no service ${name}`);
    started.set(name, running);
    running.then(
      ({ answer }) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer)),
      (error: unknown) => response.writeHead(500).end(error instanceof Error ? error.message : String(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      const running = await Promise.allSettled(started.values());
      await Promise.all(running.map((result) => (result.status === 'fulfilled' ? result.value.stop?.() : undefined)));
    },
  };
}
