import { readFile } from 'node:fs/promises';
import { BlockList } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compose, COMPOSE_FILE, ours, PROXY_ADDRESS, resolved, running } from '../../support/stack/deploy-files.ts';

const proxy = await readFile(join(COMPOSE_FILE, '..', compose.configs['proxy']!.file), 'utf8');

describe('the proxy of docker-compose.yml', () => {
  it('publishes no port of what is scaled: the proxy finds each at the port it listens on', () => {
    const backends = [...proxy.matchAll(/^ {2}server-template (\w+) \d+ (\S+)$/gm)].map(([, name, at]) => [name, at]);
    expect(backends).toEqual([
      ['api', 'api:8080'],
      ['gateway', 'gateway:8080'],
    ]);
    for (const [name] of backends) expect(compose.services[name!]!.environment!['FLOTILLA_PORT']).toBe('8080');
    for (const [name, { ports }] of ours) expect(ports, name).toBeUndefined();
    const bound = [...proxy.matchAll(/^ {2}bind :(\d+)\n\.endif\n {2}default_backend (\w+)$/gm)].map(([, at, name]) => [
      at,
      name,
    ]);
    expect(bound).toEqual([
      ['8080', 'api'],
      ['8090', 'gateway'],
    ]);
    expect(compose.services['proxy']!.ports!.map((port) => port.split(':').at(-1))).toEqual(bound.map(([at]) => at));
  });

  it('uses TLS where .env requests it, at the same ports, with the certificates of a mounted directory', () => {
    const secured = [
      ...proxy.matchAll(/^\.if streq\("\$FLOTILLA_TLS",true\)\n {2}bind :(\d+) ssl crt (\S+) ssl-min-ver TLSv1\.2 /gm),
    ];
    expect(secured.map(([, port]) => port)).toEqual(['8080', '8090']);
    const { environment, volumes } = compose.services['proxy']!;
    for (const [, , directory] of secured) {
      expect(volumes).toEqual([`./secrets/tls:${directory!.replace(/\/$/, '')}:ro`]);
    }
    expect(resolved(environment!, {})).toEqual({ FLOTILLA_TLS: 'false' });
    expect(resolved(environment!, { FLOTILLA_TLS: 'true' })).toEqual({ FLOTILLA_TLS: 'true' });
  });

  it('takes a response with the addresses of as many processes as it has room for', () => {
    const [, most] = /^ {2}accepted_payload_size (\d+)$/m.exec(proxy) ?? [];
    const servers = [...proxy.matchAll(/^ {2}server-template \w+ (\d+) /gm)].map(([, number]) => Number(number));
    expect(servers).toHaveLength(2);
    for (const number of servers) {
      expect(Number(most)).toBeGreaterThan(RESPONSE_BYTES + number * LONGEST_ADDRESS_BYTES);
    }
  });

  it('believes the proxy and no other container who a client is', () => {
    const [{ subnet, ip_range: range }] = compose.networks['front']!.ipam!.config;
    const within = (network: string) => {
      const [base = '', bits] = network.split('/');
      const list = new BlockList();
      list.addSubnet(base, Number(bits));
      return list.check(PROXY_ADDRESS);
    };
    expect({ subnet: within(subnet), range: within(range) }).toEqual({ subnet: true, range: false });
    for (const [name, { environment }] of running) {
      expect(resolved(environment!, {})['FLOTILLA_TRUSTED_PROXIES'], name).toBe(`${PROXY_ADDRESS},`);
    }
    expect(proxy).toMatch(/^ {2}option forwardfor$/m);
  });

  it('repeats no request that a process may have started, and responds as the product does where nobody can', () => {
    expect(proxy.match(/^ {2}retry-on .*$/gm)).toEqual(['  retry-on conn-failure']);
    const bodies = [...proxy.matchAll(/http-error status (\d+) content-type application\/json string '(.*)'/g)];
    expect(bodies.map(([, status]) => status)).toEqual(['400', '408', '502', '503', '504']);
    for (const [, status, body] of bodies) {
      expect(JSON.parse(body!)).toEqual({
        error: expect.stringMatching(/^[A-Z][A-Za-z]+$/),
        message: expect.any(String),
        code: Number(status),
      });
    }
  });
});

/** Of a response without its addresses: header, question with the longest of names, what both sides announce. */
const RESPONSE_BYTES = 12 + 255 + 4 + 11;
/** With a name as long as Docker allows a service's, written out each time. */
const LONGEST_ADDRESS_BYTES = 65 + 10 + 4;
