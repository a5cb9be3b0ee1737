import { createServer } from 'node:net';

/** Why this process cannot listen on the port now, as an error code such as EADDRINUSE; null when it can. */
export function listenProblem(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(null)));
  });
}

/** Tells whether this process could listen on the port now. */
export async function isPortFree(host: string, port: number): Promise<boolean> {
  return (await listenProblem(host, port)) === null;
}

/** A port that was free a moment ago; another process may still take it before the caller does. */
export function findFreePort(host = '127.0.0.1'): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen({ host, port: 0, exclusive: true }, () => {
      const address = probe.address();
      const port = typeof address === 'object' && address ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });
}
