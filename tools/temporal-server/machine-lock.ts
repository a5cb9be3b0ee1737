import { createHash } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Takes a lock that one process of this machine can hold. The kernel frees it when the process ends, however it ends,
 * so that there are no stale locks.
 * @param name - any text, such as a path
 * @returns a function that frees the lock, or null when another process holds it
 */
export function takeMachineLock(name: string): Promise<(() => void) | null> {
  const address = `\0flotilla-${createHash('sha256').update(name).digest('hex').slice(0, 32)}`;
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(null);
      else reject(error);
    });
    server.listen(address, () => {
      server.unref();
      resolve(() => server.close());
    });
  });
}
