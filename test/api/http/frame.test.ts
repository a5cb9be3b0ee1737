import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eachOperation, loadDocument } from '../../../src/api/openapi/document.ts';
import { createAdmin, createTestApp, type TestApp } from '../../support/http/app.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';

let database: TestDatabase;
let app: TestApp;
let token: string;

beforeAll(async () => {
  database = await createTestDatabase();
  await createAdmin(database.persistence);
  app = await createTestApp(database.persistence);
  token = await app.login();
});

afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const LOGIN = { email: 'nobody@fleet.example', password: 'wrong' };

function login(raw: string | Uint8Array, headers?: Record<string, string>) {
  return app.call('POST', '/login', { raw, headers });
}

/** One stored block, in a frame that requires so large a window of its reader. @see RFC 8878, 3.1.1 */
function zstdFrame(text: string, windowLog: number): Buffer {
  const content = Buffer.from(text);
  const header = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, (windowLog - 10) << 3, 0, 0, 0]);
  header.writeUIntLE((content.length << 3) | 1, 6, 3);
  return Buffer.concat([header, content]);
}

function nested(levels: number): string {
  return `{"password":${'['.repeat(levels)}${']'.repeat(levels)},"email":"a@b"}`;
}

describe('the error body', () => {
  it('is 404 NotFound for an unknown route', async () => {
    const response = await app.call('GET', '/nowhere');
    expect(response.status).toBe(404);
    expect(response.body).toEqual({ error: 'NotFound', message: expect.any(String), code: 404 });
    expect((await app.call('GET', '/docs/nowhere')).body.error).toBe('NotFound');
  });

  it('METHOD: is 405 with the allowed methods for a wrong method', async () => {
    for (const method of ['DELETE', 'PUT', 'PATCH', 'OPTIONS']) {
      const response = await app.call(method, '/computers', { token });
      expect(response.status).toBe(405);
      expect(response.headers.get('allow')).toBe('GET, HEAD');
      expect(response.body.error).toBe('MethodNotAllowed');
    }
    expect((await app.call('GET', '/login')).headers.get('allow')).toBe('POST');
    expect((await app.call('POST', '/healthz')).status).toBe(405);
  });

  it('METHOD: is 404 for an unknown verb, however the colon is written', async () => {
    for (const path of ['/computers/1:explode', '/computers/1%3Aexplode', '/person:explode', '/person%3aexplode']) {
      expect((await app.call('POST', path, { token })).body).toMatchObject({ error: 'NotFound', code: 404 });
    }
    const known = await app.call('POST', '/scripts/none:archive', { token });
    expect(known.body).toMatchObject({ error: 'UnknownScript', code: 404 });
  });

  it('accepts a trailing slash and the prefix without a version', async () => {
    expect((await app.call('GET', '/computers/', { token })).status).toBe(200);
    expect((await app.call('GET', '/api/computers', { token })).status).toBe(200);
    const head = await app.call('HEAD', '/computers', { token });
    expect([head.status, head.text]).toEqual([200, '']);
  });

  it('has a request id and headers against caching, sniffing and framing', async () => {
    const response = await app.call('GET', '/person', { token, headers: { 'x-request-id': 'mine-1' } });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'x-request-id': 'mine-1',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
    });
    expect(response.headers.get('x-powered-by')).toBeNull();
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
    const other = await app.call('GET', '/person', { token, headers: { 'x-request-id': 'a b;c' } });
    expect(other.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('bodies', () => {
  it('BODY-type: get 415 for another type; parameters of the right one are accepted', async () => {
    for (const type of [
      'text/xml',
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/json; charset=utf-16',
    ]) {
      expect((await login(JSON.stringify(LOGIN), { 'content-type': type })).body.error).toBe('UnsupportedMediaType');
    }
    const good = JSON.stringify(LOGIN);
    expect((await login(good, { 'content-type': 'application/json; charset=UTF-8' })).status).toBe(401);
    expect((await login(good, { 'content-encoding': 'compress' })).status).toBe(415);
  });

  it('BODY-type: that are not JSON get an error that explains how to send it', async () => {
    const send = (raw: string | Uint8Array, type: string) =>
      app.call('POST', '/access-groups', { token, raw, headers: type === '' ? {} : { 'content-type': type } });
    const form = await send('title=x', 'application/x-www-form-urlencoded');
    expect(form.body).toEqual({
      error: 'UnsupportedMediaType',
      message:
        'The body is not JSON: its Content-Type is "application/x-www-form-urlencoded". ' +
        `Send JSON in UTF-8 like this: curl -H 'Content-Type: application/json' -d '{"name": "value"}'`,
      code: 415,
    });
    const untyped = await fetch(`${app.url}/api/v2/access-groups`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: Buffer.from('title=x'),
    });
    expect([untyped.status, ((await untyped.json()) as { message: string }).message]).toEqual([
      415,
      expect.stringMatching(/^The body is not JSON: it has no Content-Type\. Send JSON /),
    ]);
    const broken: Array<[string | Uint8Array, string]> = [
      ['title=x', 'line 1, column 1: a value is expected'],
      ["{'title': 'x'}", 'line 1, column 2: a name in double quotes is expected'],
      ['{"title": "x",\n}', 'line 2, column 1: a name in double quotes is expected'],
      ['{"title": "x"', 'line 1, column 14: it ends where a comma or "}" is expected'],
      [' ', 'line 1, column 2: it ends where a value is expected'],
      [Buffer.from([0xff, 0xfe]), 'it has to be UTF-8 text without byte order mark'],
    ];
    for (const [raw, place] of broken) {
      expect((await send(raw, 'application/json')).body).toEqual({
        error: 'InvalidJson',
        message: `The body is not JSON: ${place}`,
        code: 400,
      });
    }
    for (const raw of ['[]', '"title"', '7', 'null', 'true']) {
      expect((await send(raw, 'application/json')).body).toMatchObject({
        message: 'body must be an object',
        details: [{ path: 'body', message: 'must be an object' }],
      });
    }
  });

  it('BODY-type: arrays, scalars, repeated keys and a missing body get 400', async () => {
    for (const raw of ['[]', '"text"', 'null', '7']) expect((await login(raw)).body.error).toBe('InvalidParameter');
    expect((await login('{"password":"a","password":"b","email":"a@b"}')).body.error).toBe('InvalidJson');
    expect((await app.call('POST', '/login')).body).toMatchObject({
      error: 'InvalidParameter',
      details: [{ path: 'body' }],
    });
  });

  it('BODY-type: a missing body is rejected wherever the document requires one, even without required fields', async () => {
    const needing = eachOperation(loadDocument()).filter(({ operation }) => operation.requestBody?.required);
    expect(needing.length).toBeGreaterThan(20);
    for (const { path, method, operation } of needing) {
      const sample = path.replace(/\{\w+_id\}/g, '1').replace(/\{\w+\}/g, 'x');
      const response = await app.call(method.toUpperCase(), sample, { token });
      expect(response.body, operation.operationId).toMatchObject({
        error: 'InvalidParameter',
        details: [{ path: 'body', message: 'is required' }],
      });
    }
  });

  it('BODY-enc: text that is not storable UTF-8 is rejected', async () => {
    const good = JSON.stringify(LOGIN);
    const bad = [
      Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
      Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(good)]),
      Buffer.from(good, 'utf16le'),
      '{"email":"a@b","password":"\\ud800"}',
      '{"email":"a\\u0000@b","password":"x"}',
      '{"email":"a@b","password":"x","\\u0000":1}',
      '{not json',
    ];
    for (const raw of bad) expect((await login(raw)).body).toMatchObject({ error: 'InvalidJson', code: 400 });
  });

  it('BODY-deep: nesting beyond 32 is rejected, even 100,000 levels', async () => {
    expect((await login(nested(31))).body.error).toBe('InvalidParameter');
    expect((await login(nested(32))).body.error).toBe('InvalidJson');
    expect((await login(nested(100_000))).body.error).toBe('InvalidJson');
  });

  it('BODY-big: more than 2 MiB, compressed or not, gets 413 and closes the connection', async () => {
    const big = JSON.stringify({ ...LOGIN, email: 'x'.repeat(2 * 1024 * 1024) });
    const plain = await login(big);
    expect(plain.body).toMatchObject({ error: 'PayloadTooLarge', code: 413 });
    expect(plain.headers.get('connection')).toBe('close');
    expect((await login(gzipSync(big), { 'content-encoding': 'gzip' })).status).toBe(413);
    expect((await login(gzipSync(JSON.stringify(LOGIN)), { 'content-encoding': 'gzip' })).status).toBe(401);
  });

  it('BODY-big: a zstd frame that requests too much memory is rejected', async () => {
    const zstd = (windowLog: number) =>
      login(zstdFrame(JSON.stringify(LOGIN), windowLog), { 'content-encoding': 'zstd' });
    expect((await zstd(21)).status).toBe(401);
    expect((await zstd(27)).body).toMatchObject({ error: 'InvalidJson', code: 400 });
  });

  it('PROTO: takes __proto__ and constructor as plain data', async () => {
    const raw = '{"__proto__":{"email":"x@y","polluted":1},"constructor":{"prototype":{"polluted":1}},"password":"x"}';
    expect((await login(raw)).body.details.map(({ path }: { path: string }) => path)).toEqual([
      'body.__proto__',
      'body.constructor',
    ]);
    const query = await app.call('GET', '/computers?__proto__=1&constructor=2&__proto__[x]=1', { token });
    expect(query.body.details).toHaveLength(3);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

describe('parameters', () => {
  it('ID-bad: anything but a 32-bit id gets 404', async () => {
    const numbers = ['0', '-1', '1.5', '1e400', '2147483648', '9007199254740993', '9223372036854775808', '١٢٣'];
    for (const id of [...numbers, 'abc', '1%20OR%201=1', '%00', '%ff']) {
      expect((await app.call('GET', `/computers/${id}`, { token })).body).toEqual({
        error: 'UnknownComputer',
        message: 'There is no such computer',
        code: 404,
      });
    }
  });

  it('PAGE-bad: an invalid page gets 400', async () => {
    const bad = ['limit=-1', 'limit=1.5', 'limit=NaN', 'limit=', 'limit=1&limit=2', 'limit=0x10', 'limit=%205'];
    for (const query of [...bad, 'limit=1e9', 'offset=-1', 'offset=9223372036854775808', 'offset=%D9%A1']) {
      const response = await app.call('GET', `/computers?${query}`, { token });
      expect(response.body).toMatchObject({
        error: 'InvalidParameter',
        details: [{ path: `query.${query.split('=')[0]}` }],
      });
    }
  });

  it('PAGE-bad: a large limit is lowered, and a page past the end is empty', async () => {
    const response = await app.call('GET', '/computers?limit=1000000000&offset=9007199254740991', { token });
    expect(response.body).toMatchObject({ count: 0, results: [], next: null });
  });

  it('booleans have six forms', async () => {
    for (const value of ['true', 'FALSE', '1', '0', 'Yes', 'no']) {
      expect((await app.call('GET', `/computers?root_only=${value}`, { token })).status).toBe(200);
    }
    for (const query of ['root_only=maybe', 'root_only=', 'query=%00']) {
      expect((await app.call('GET', `/computers?${query}`, { token })).body.error).toBe('InvalidParameter');
    }
  });
});

describe('pages outside the API', () => {
  it('serves the document and a reference made of local files only', async () => {
    const document = await app.call('GET', '/openapi.json');
    expect(document.body).toMatchObject({ openapi: '3.1.0', servers: [{ url: '/api/v2' }] });
    const docs = await app.call('GET', '/docs');
    expect(docs.headers.get('content-security-policy')).toContain("script-src 'self'");
    const links = [...docs.text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]!);
    expect(links.length).toBeGreaterThan(3);
    for (const link of links) {
      expect(link).toMatch(/^\/docs\//);
      expect((await app.call('GET', link)).status).toBe(200);
    }
  });

  it('redirects / to the reference', async () => {
    const root = await fetch(`${app.url}/`, { redirect: 'manual' });
    expect([root.status, root.headers.get('location')]).toEqual([302, '/docs']);
    expect((await fetch(`${app.url}/`)).url).toBe(`${app.url}/docs`);
    expect((await fetch(`${app.url}/`, { method: 'POST' })).status).toBe(405);
  });

  it('is alive and ready', async () => {
    expect((await app.call('GET', '/healthz')).status).toBe(200);
    expect((await app.call('GET', '/readyz')).body).toEqual({ ready: true });
  });

  it('reports on /readyz that Temporal is unavailable', async () => {
    const check = async () => {
      throw new Error('no worker polls');
    };
    const other = await createTestApp(database.persistence, { temporal: { check } });
    const response = await other.call('GET', '/readyz');
    expect(response.status).toBe(503);
    expect(response.body).toMatchObject({
      error: 'ServiceUnavailable',
      details: [{ path: 'temporal', message: 'no worker polls' }],
    });
    await other.close();
  });
});
