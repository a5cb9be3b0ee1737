import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

export type ClientAddress = (req: Pick<IncomingMessage, 'headers' | 'socket'>) => string;

const MAPPED = /^::ffff:(?=\d+\.)/i;

/**
 * The peer's address; behind trusted proxies (addresses, networks), the one that the outermost of them saw. Ignores
 * `X-Forwarded-For` entries of clients.
 */
export function createClientAddress(trustedProxies: readonly string[]): ClientAddress {
  const trusted = new BlockList();
  for (const entry of trustedProxies) {
    const [address = '', bits] = entry.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) trusted.addAddress(address, family);
    else trusted.addSubnet(address, Number(bits), family);
  }
  const isTrusted = (address: string) => trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  return ({ headers, socket }) => {
    let address = (socket.remoteAddress ?? 'unknown').replace(MAPPED, '');
    if (trustedProxies.length === 0) return address;
    const hops = String(headers['x-forwarded-for'] ?? '').split(',');
    while (isIP(address) !== 0 && isTrusted(address)) {
      const before = readHop(hops.pop() ?? '');
      if (before === null) break;
      address = before;
    }
    return address;
  };
}

const NETWORK_GROUPS = 4;

/** The rate-limit key of a client: its IPv4 address, or the /64 network of its IPv6 address. */
export function rateLimitKey(address: string): string {
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.toLowerCase().split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  const groups = [...before, ...Array<string>(zeros).fill('0'), ...after];
  return groups.slice(0, NETWORK_GROUPS).join(':');
}

function readHop(hop: string): string | null {
  const text = hop.trim();
  const address = /^\[(.*)\](?::\d+)?$/.exec(text)?.[1] ?? (isIP(text) ? text : text.replace(/:\d+$/, ''));
  return isIP(address) === 0 ? null : address.replace(MAPPED, '');
}
