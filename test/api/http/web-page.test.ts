import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { createTestApp, type TestApp } from '../../support/http/app.ts';

const DOCUMENT = '<!doctype html><title>Flotilla</title><script type="module" src="/assets/index-A1.js"></script>';
const SCRIPT = `export const text = '${'x'.repeat(2000)}';`;
const STYLE = 'body { margin: 0 }';
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

let database: TestDatabase;
let folder: string;
let app: TestApp;

beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'flotilla-page-'));
  await mkdir(join(folder, 'assets'));
  for (const [name, content] of [
    ['index.html', DOCUMENT],
    ['robots.txt', 'User-agent: *'],
    ['assets/index-A1.js', SCRIPT],
    ['assets/index-A1.js.br', brotliCompressSync(SCRIPT)],
    ['assets/index-A1.js.gz', gzipSync(SCRIPT)],
    ['assets/index-B2.css', STYLE],
  ] as const) {
    await writeFile(join(folder, name), content);
  }
  app = await createTestApp(database.persistence, { webPage: folder });
  // A newer build removes it while this one is served.
  await rm(folder, { recursive: true });
});

afterAll(async () => {
  await app?.close();
  await database?.drop();
});

/** Without what fetch adds and decodes by itself. */
async function read(path: string, headers: Record<string, string> = {}, method = 'GET') {
  const request = get(`${app.url}${path}`, { headers, method });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, body: await buffer(response) };
}

describe('the web page', () => {
  it.each(['/', '/computers', '/computers/7?tab=software', '/invitations/aB3', '/index.html', '/apiary'])(
    'is at %s for a browser',
    async (path) => {
      const { status, headers, body } = await read(path, { accept: BROWSER });
      expect([status, String(body)]).toEqual([200, DOCUMENT]);
      expect(headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-cache',
        'content-security-policy':
          "default-src 'self'; base-uri 'none'; object-src 'none'; form-action 'self'; frame-ancestors 'none'; " +
          "img-src 'self' data:; require-trusted-types-for 'script'; trusted-types 'none'",
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'x-request-id': expect.stringMatching(/^[\w-]{36}$/),
      });
      expect(headers).not.toHaveProperty('access-control-allow-origin');
      expect(headers).not.toHaveProperty('set-cookie');
    },
  );

  it('is at / for whatever is accepted, and elsewhere only for those that want a page', async () => {
    for (const accept of ['*/*', 'application/json']) {
      expect(String((await read('/', { accept })).body)).toBe(DOCUMENT);
      const elsewhere = await read('/computers', { accept });
      expect([elsewhere.status, JSON.parse(String(elsewhere.body)).error]).toEqual([404, 'NotFound']);
    }
    expect((await read('/computers')).status).toBe(404);
  });

  it.each([
    ['/api/v2/nowhere', 'NotFound'],
    ['/api/nowhere', 'NotFound'],
    ['/api', 'NotFound'],
    ['/api/v2/computers', 'Unauthorized'],
    ['/assets/index-Old.js', 'NotFound'],
    ['/assets', 'NotFound'],
    ['/assets/..%2f..%2fpackage.json', 'NotFound'],
    ['/docs/nowhere', 'NotFound'],
    ['/codec/decode', 'NotFound'],
    ['/message-system', 'NotFound'],
    ['/ping', 'NotFound'],
  ])('leaves %s to others', async (path, error) => {
    const { headers, body } = await read(path, { accept: BROWSER });
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(JSON.parse(String(body)).error).toBe(error);
  });

  it('leaves the documentation and the state of the server where they were', async () => {
    expect(String((await read('/docs', { accept: BROWSER })).body)).toContain('swagger-ui');
    expect(JSON.parse(String((await read('/openapi.json', { accept: BROWSER })).body)).openapi).toBe('3.1.0');
    expect(JSON.parse(String((await read('/healthz', { accept: BROWSER })).body))).toEqual({ alive: true });
  });

  it('has files that browsers keep for a year, and others that they ask for', async () => {
    const style = await read('/assets/index-B2.css');
    expect(String(style.body)).toBe(STYLE);
    expect(style.headers).toMatchObject({
      'content-type': 'text/css; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
    });
    const robots = await read('/robots.txt');
    expect([String(robots.body), robots.headers['cache-control']]).toEqual(['User-agent: *', 'no-cache']);
  });

  it('is sent compressed to those who take that', async () => {
    const sent = async (accepted: string) => {
      const { headers, body } = await read('/assets/index-A1.js', { 'accept-encoding': accepted });
      expect(headers).toMatchObject({ vary: 'Accept-Encoding', 'content-type': 'text/javascript; charset=utf-8' });
      expect(headers['content-length']).toBe(String(body.length));
      return [headers['content-encoding'], body] as const;
    };
    const [br, brotli] = await sent('gzip, deflate, br, zstd');
    expect([br, String(brotliDecompressSync(brotli))]).toEqual(['br', SCRIPT]);
    for (const accepted of ['gzip', 'br;q=0, gzip']) {
      const [gzip, zipped] = await sent(accepted);
      expect([gzip, String(gunzipSync(zipped))]).toEqual(['gzip', SCRIPT]);
    }
    for (const accepted of ['', 'identity', 'zstd']) {
      const [none, plain] = await sent(accepted);
      expect([none, String(plain)]).toEqual([undefined, SCRIPT]);
    }
    expect((await read('/assets/index-A1.js.br')).status).toBe(404);
  });

  it('is not sent again while it is the same', async () => {
    for (const path of ['/', '/assets/index-A1.js']) {
      const { headers } = await read(path, { accept: BROWSER });
      const tag = headers.etag!;
      expect(tag).toMatch(/^W\/"[\w-]{16}"$/);
      const again = await read(path, { accept: BROWSER, 'if-none-match': tag });
      expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, tag]);
      expect((await read(path, { accept: BROWSER, 'if-none-match': 'W/"other"' })).status).toBe(200);
    }
  });

  it('can be asked for by HEAD, and by no other method', async () => {
    const head = await read('/computers', { accept: BROWSER }, 'HEAD');
    expect([head.status, head.body.length, head.headers['content-length']]).toEqual([200, 0, String(DOCUMENT.length)]);
    for (const path of ['/', '/assets/index-A1.js']) {
      const posted = await read(path, { accept: BROWSER }, 'POST');
      expect([posted.status, posted.headers.allow]).toEqual([405, 'GET, HEAD']);
    }
    expect((await read('/computers', { accept: BROWSER }, 'POST')).status).toBe(404);
  });

  it('without a document cannot be served', async () => {
    const empty = await mkdtemp(join(tmpdir(), 'flotilla-page-'));
    await expect(createTestApp(database.persistence, { webPage: empty })).rejects.toThrow('There is no web page in');
    await rm(empty, { recursive: true });
  });
});
