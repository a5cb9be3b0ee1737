import { describe, expect, it } from 'vitest';
import { chooseConnection, normalizeUrl } from '../../../../packages/cli/src/servers/connection.ts';

const lab = { name: 'lab', url: 'http://lab.example', email: 'ada@lab.example', token: 'secret-of-lab' };
const fleet = { name: 'fleet', url: 'https://fleet.example', email: 'ada@fleet.example', token: 'secret-of-fleet' };
const stored = { current: 'lab', servers: [fleet, lab] };
const choose = (env: NodeJS.ProcessEnv, server?: string) => chooseConnection(stored, env, server);

describe('the server', () => {
  it('is the current one', () => {
    expect(choose({})).toEqual({ url: lab.url, credentials: { token: lab.token } });
  });

  it('is the one that --server names, whatever the environment says', () => {
    const env = { FLOTILLA_URL: 'http://other.example', FLOTILLA_TOKEN: 'of-other' };
    expect(choose(env, 'fleet')).toEqual({ url: fleet.url, credentials: { token: fleet.token } });
  });

  it('is at the address of FLOTILLA_URL, with its token or the stored one', () => {
    const other = { FLOTILLA_URL: 'https://other.example/api/v2/', FLOTILLA_TOKEN: 'of-other' };
    expect(choose(other)).toEqual({ url: 'https://other.example', credentials: { token: 'of-other' } });
    expect(choose({ FLOTILLA_URL: 'https://fleet.example/' }).credentials).toEqual({ token: fleet.token });
  });

  it('takes an access key of the environment', () => {
    const env = { FLOTILLA_API_URI: 'https://other.example/api/', FLOTILLA_API_KEY: 'AK', FLOTILLA_API_SECRET: 's' };
    const credentials = { accessKey: 'AK', secretKey: 's' };
    expect(choose(env)).toEqual({ url: 'https://other.example', credentials });
  });

  it('is never a stored one for a token of the environment', () => {
    expect(() => choose({ FLOTILLA_TOKEN: 'of-other' })).toThrow('set FLOTILLA_URL');
    expect(choose({ FLOTILLA_TOKEN: 'of-other' }, 'lab').credentials).toEqual({ token: lab.token });
  });

  it.each([
    [{}, 'nowhere', 'no login named nowhere'],
    [{ FLOTILLA_URL: 'https://other.example' }, undefined, 'flotilla login https://other.example'],
    [{}, 'https://other.example', 'flotilla login https://other.example'],
  ])('is missing with a remedy: %j %s', (env, server, message) => {
    expect(() => choose(env, server)).toThrow(message);
  });

  it('is missing before the first login', () => {
    expect(() => chooseConnection({ current: null, servers: [] }, {}, undefined)).toThrow('flotilla login URL');
  });
});

describe('an address', () => {
  it.each([
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['http://127.0.0.1:8080/', 'http://127.0.0.1:8080'],
    ['https://Fleet.Example/api/v2', 'https://fleet.example'],
    ['https://fleet.example/api', 'https://fleet.example'],
    ['https://example.com/fleet/api/v2/', 'https://example.com/fleet'],
  ])('%s is %s', (text, expected) => {
    expect(normalizeUrl(text)).toBe(expected);
  });

  it.each(['fleet.example', 'ftp://fleet.example', 'https://', 'https://fleet.example/?a=b', ''])(
    'is not %j',
    (text) => {
      expect(() => normalizeUrl(text)).toThrow('is not the address of a server');
    },
  );

  it('has no password in it', () => {
    expect(() => normalizeUrl('https://ada:secret@fleet.example')).toThrow('must not contain');
  });
});
