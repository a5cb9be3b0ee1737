import type { StackPorts } from '../../harness/stack.ts';
import { createTcpProxy, type TcpProxy } from '../../harness/tcp-proxy.ts';

/** Connections through a proxy of the driver. */
export const WIRES = ['api:database', 'api:temporal', 'worker:database', 'worker:temporal', 'agents'] as const;
export type WireName = (typeof WIRES)[number];
export type Wires = Readonly<Record<WireName, TcpProxy>>;

/** Opens the proxies; their servers may start later. */
export async function openWires(ports: StackPorts): Promise<Wires> {
  const open = (port: number): Promise<TcpProxy> => createTcpProxy({ host: '127.0.0.1', port });
  return {
    'api:database': await open(ports.database),
    'worker:database': await open(ports.database),
    'api:temporal': await open(ports.temporal),
    'worker:temporal': await open(ports.temporal),
    agents: await open(ports.api),
  };
}

/** The setting that passes the proxies to the processes. */
export function wireSetting(wires: Wires): string {
  return WIRES.filter((name) => name !== 'agents')
    .map((name) => `${name}=${wires[name].port}`)
    .join(',');
}
