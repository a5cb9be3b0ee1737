import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { isPrivateAddress, isPrivateLiteral, publicLookup } from '../../../../src/services/events/webhook-addresses.ts';

describe('addresses of webhooks', () => {
  it.each([
    ...['0.0.0.0', '10.1.2.3', '100.64.0.1', '100.127.255.255', '127.0.0.1', '169.254.169.254', '172.16.0.1'],
    ...['172.31.255.255', '192.168.1.1', '198.18.0.1', '224.0.0.1', '240.0.0.1', '255.255.255.255'],
    ...['::', '::1', 'fe80::1', 'fc00::1', 'fd00:ec2::254', 'ff02::1', '::ffff:127.0.0.1', '::ffff:8.8.8.8'],
    ...['64:ff9b::7f00:1', '2002:7f00:1::', '2001:db8::1', '2001:0:1::'],
  ])('may not be %s', (address) => {
    expect(isPrivateAddress(address)).toBe(true);
  });

  it.each(['8.8.8.8', '172.15.0.1', '172.32.0.1', '100.63.0.1', '223.255.255.255', '2606:4700::1111', '2a00:1450::1'])(
    'may be %s',
    (address) => {
      expect(isPrivateAddress(address)).toBe(false);
    },
  );

  it.each(['http://2130706433/', 'http://0x7f.1/', 'http://127.1/', 'http://[::1]:80/', 'http://[::ffff:7f00:1]/'])(
    'are recognized in %s',
    (url) => {
      expect(isPrivateLiteral(new URL(url))).toBe(true);
    },
  );

  it('of a name are checked all', async () => {
    const lookup = (...addresses: string[]) =>
      promisify(
        publicLookup((_, callback) =>
          callback(
            null,
            addresses.map((address) => ({ address, family: 4 })),
          ),
        ),
      )('a.example', { all: true });
    expect(await lookup('8.8.8.8', '9.9.9.9')).toHaveLength(2);
    await expect(lookup('8.8.8.8', '10.0.0.1')).rejects.toThrow('the address is private');
  });
});
