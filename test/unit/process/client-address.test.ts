import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createClientAddress, rateLimitKey } from '../../../src/process/client-address.ts';

const from = (trusted: string[], peer: string | undefined, forwarded?: string) =>
  createClientAddress(trusted)({
    socket: { remoteAddress: peer } as IncomingMessage['socket'],
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  });

describe('the address of a client', () => {
  it('SSRF: is that of the peer, whatever the peer claims', () => {
    expect(from([], '192.0.2.7', '198.51.100.1')).toBe('192.0.2.7');
    expect(from(['10.0.0.0/8'], '192.0.2.7', '198.51.100.1')).toBe('192.0.2.7');
    expect(from([], '::ffff:192.0.2.7')).toBe('192.0.2.7');
    expect(from([], undefined)).toBe('unknown');
  });

  it('is what the outermost trusted proxy saw', () => {
    const trusted = ['10.0.0.0/8', '2001:db8::1', '127.0.0.1'];
    expect(from(trusted, '10.1.2.3', '198.51.100.1')).toBe('198.51.100.1');
    expect(from(trusted, '::ffff:10.1.2.3', 'made up, 198.51.100.1, 10.9.9.9')).toBe('198.51.100.1');
    expect(from(trusted, '127.0.0.1', '203.0.113.5, 198.51.100.1:8443')).toBe('198.51.100.1');
    expect(from(trusted, '2001:db8::1', '[2001:db8::7]:443')).toBe('2001:db8::7');
    expect(from(trusted, '2001:db8::1', '2001:db8::7')).toBe('2001:db8::7');
  });

  it('is the last known one if the header of the proxy is unreadable', () => {
    for (const forwarded of [undefined, '', 'unknown', '198.51.100.1, x', '256.1.1.1']) {
      expect(from(['10.0.0.1'], '10.0.0.1', forwarded)).toBe('10.0.0.1');
    }
    expect(from(['10.0.0.0/8'], '10.0.0.1', '10.0.0.2')).toBe('10.0.0.2');
  });
});

describe('rateLimitKey', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:DB8:1:2::9', '2001:db8:1:2'],
    ['2001:db8::9', '2001:db8:0:0'],
    ['::1', '0:0:0:0'],
    ['fe80::', 'fe80:0:0:0'],
  ])('takes %s as %s', (address, sender) => {
    expect(rateLimitKey(address)).toBe(sender);
  });
});
