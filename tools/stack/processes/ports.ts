import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Why this process cannot listen on the port now, as an error code such as EADDRINUSE; null when it can. */
export function listenProblem(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(null)));
  });
}

/** Whether this process could listen on the port now. */
export async function isPortFree(host: string, port: number): Promise<boolean> {
  return (await listenProblem(host, port)) === null;
}

const LOOPBACK = '127.0.0.1';
/** Below the range that systems use for outgoing connections. */
const [FIRST_PORT, PORT_LIMIT] = [10_240, 32_768];

/**
 * A port that was free a moment ago. Another process may still take it before the caller does; an outgoing connection
 * will not.
 * @throws Error when this machine cannot listen on 127.0.0.1 at all
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST_PORT, PORT_LIMIT);
    const problem = await listenProblem(LOOPBACK, port);
    if (problem === null) return port;
    if (problem !== 'EADDRINUSE') throw new Error(`Cannot listen on ${LOOPBACK}: ${problem}`);
  }
}

/** Several different ports that were free a moment ago. */
export async function findFreePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await findFreePort());
  return [...ports];
}
