import { type LookupAddress, lookup as resolve } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** An address that webhooks may not have. The message contains no address: clients must not find out how names resolve. */
export class PrivateAddressError extends Error {
  constructor() {
    super('the address is private');
    this.name = 'PrivateAddressError';
  }
}

/** Not reachable from the Internet, or with another meaning inside a network, such as the metadata of a cloud. */
const PRIVATE: ReadonlyArray<readonly [network: string, prefix: number]> = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  // Multicast, reserved and broadcast.
  ['224.0.0.0', 3],
];

/** Of IPv6 only 2000::/3 is assigned to the Internet; parts of it have another meaning or contain an IPv4 address. */
const INTERNET: readonly [string, number] = ['2000::', 3];
const PRIVATE_IN_INTERNET: ReadonlyArray<readonly [network: string, prefix: number]> = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

const blocked = new BlockList();
for (const [network, prefix] of PRIVATE) blocked.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of PRIVATE_IN_INTERNET) blocked.addSubnet(network, prefix, 'ipv6');
const internet = new BlockList();
internet.addSubnet(...INTERNET, 'ipv6');

/** Whether an IP address is not one of the Internet: private, loopback, link-local, multicast, or an IPv4 one in IPv6. */
export function isPrivateAddress(address: string): boolean {
  if (isIP(address) === 4) return blocked.check(address, 'ipv4');
  return !internet.check(address, 'ipv6') || blocked.check(address, 'ipv6');
}

/** Whether the host of a URL is an IP address that is private; a name is checked when it is resolved. */
export function isPrivateLiteral({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(host) !== 0 && isPrivateAddress(host);
}

export type Resolve = (
  host: string,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

const resolveAll: Resolve = (host, callback) => resolve(host, { all: true }, callback);

/** Resolves a name for a connection to exactly these addresses. Fails when one of them is private. */
export function publicLookup(resolveHost: Resolve = resolveAll): LookupFunction {
  return (host, options, callback) => {
    resolveHost(host, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error || !first) return callback(error ?? new Error('the name has no address'), []);
      if (addresses.some(({ address }) => isPrivateAddress(address))) return callback(new PrivateAddressError(), []);
      if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}
