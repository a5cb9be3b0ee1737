import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Transform } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

/** A proxy to a TCP server whose connections can be cut, restored, slowed down and frozen. */
export async function createTcpProxy(target: { host: string; port: number }) {
  const sockets = new Set<Socket>();
  let delayMs = 0;
  let frozen: PromiseWithResolvers<void> | null = null;
  const hold = () =>
    new Transform({
      transform: (chunk, _, done) => {
        if (delayMs === 0 && frozen === null) return done(null, chunk);
        const wait = async (): Promise<void> => {
          await sleep(delayMs);
          await frozen?.promise;
        };
        wait().then(() => done(null, chunk), done);
      },
    });
  const server = createServer((client) => {
    const upstream = connect(target.port, target.host);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      from.pipe(hold()).pipe(to);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    /** Closes every connection and rejects new ones. */
    async cut(): Promise<void> {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    mend: () => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve)),
    /** Closes every connection and accepts new ones: pending responses are lost. */
    drop(): void {
      for (const socket of sockets) socket.destroy();
    },
    /** Delays all data by this much, both ways. */
    delay(ms: number): void {
      delayMs = ms;
    },
    /** Holds all data back without closing connections, until `thaw`. */
    freeze(): void {
      frozen ??= Promise.withResolvers();
    },
    thaw(): void {
      frozen?.resolve();
      frozen = null;
    },
  };
}

export type TcpProxy = Awaited<ReturnType<typeof createTcpProxy>>;
