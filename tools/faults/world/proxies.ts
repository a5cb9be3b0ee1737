import type { StackPorts } from '../../harness/stack.ts';
import { createTcpProxy, type TcpProxy } from '../../harness/tcp-proxy.ts';

/** Connections through a proxy of the driver. */
export const PROXIES = ['api:database', 'api:temporal', 'worker:database', 'worker:temporal', 'agents'] as const;
export type ProxyName = (typeof PROXIES)[number];
export type Proxies = Readonly<Record<ProxyName, TcpProxy>>;

/** Opens the proxies; their servers may start later. */
export async function openProxies(ports: StackPorts): Promise<Proxies> {
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
export function proxySetting(proxies: Proxies): string {
  return PROXIES.filter((name) => name !== 'agents')
    .map((name) => `${name}=${proxies[name].port}`)
    .join(',');
}
