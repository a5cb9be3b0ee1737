import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text as readAll } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HttpServer, listen, SERVER_LIMITS } from '../../src/api/app/server.ts';
import { createAdmin, createTestApp, PUBLIC_URL, type TestApp } from '../support/http/app.ts';
import { insertComputer } from '../support/computers/computers.ts';
import { createTestDatabase, type TestDatabase } from '../support/database/database.ts';

/** What is no request, or one that was not meant for this server, at the listener that the product uses. */
let database: TestDatabase;
let app: TestApp;
let server: HttpServer;
let token: string;

beforeAll(async () => {
  database = await createTestDatabase();
  const { accountId } = await createAdmin(database.persistence);
  for (const title of ['one', 'two', 'three']) await insertComputer(database.persistence.db, { accountId, title });
  app = await createTestApp(database.persistence);
  token = await app.login();
  server = await listen(app.listener, { host: '127.0.0.1', port: 0 });
});

afterAll(async () => {
  await server?.close();
  await app?.close();
  await database?.drop();
});

/** Sends bytes on a connection of their own. @returns everything received until the server closed it */
async function send(bytes: string): Promise<string> {
  const socket = connect(server.port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(bytes, 'latin1');
  return readAll(socket);
}

const statusesOf = (response: string) =>
  [...response.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => Number(status));
const POST = 'POST /api/v2/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
const SECOND = 'GET /api/v2/person HTTP/1.1\r\nHost: x\r\n\r\n';

describe('HTTP-smuggle', () => {
  it.each([
    ['a length and chunks', `${POST}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SECOND}`],
    ['chunks and a length', `${POST}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n${SECOND}`],
    ['two lengths', `${POST}Content-Length: 0\r\nContent-Length: 44\r\n\r\n${SECOND}`],
    ['a list of lengths', `${POST}Content-Length: 0, 44\r\n\r\n${SECOND}`],
    ['a length with a sign', `${POST}Content-Length: +0\r\n\r\n${SECOND}`],
    ['a negative length', `${POST}Content-Length: -1\r\n\r\n${SECOND}`],
    ['a hexadecimal length', `${POST}Content-Length: 0x0\r\n\r\n${SECOND}`],
    ['an encoding nobody knows', `${POST}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${SECOND}`],
    ['an encoding after chunks', `${POST}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${SECOND}`],
    ['a space before the colon', `${POST}Content-Length : 0\r\n\r\n${SECOND}`],
    ['a bare line feed in the headers', `POST /api/v2/login HTTP/1.1\nHost: x\nContent-Length: 0\n\n${SECOND}`],
    ['a bare line feed after one header', `${POST}X-A: b\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SECOND}`],
    ['a bare carriage return', `${POST}X-A: b\rContent-Length: 0\r\n\r\n${SECOND}`],
    ['a folded header', `${POST}X-A: b\r\n Content-Length: 0\r\n\r\n${SECOND}`],
    ['a NUL in a header', `${POST}X-A: b\0c\r\n\r\n${SECOND}`],
    ['a chunk of no size', `${POST}Transfer-Encoding: chunked\r\n\r\nx\r\n\r\n${SECOND}`],
    ['a chunk size beyond all bounds', `${POST}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n${SECOND}`],
    ['a version nobody knows', `GET /api/v2/person HTTP/3.7\r\nHost: x\r\n\r\n${SECOND}`],
    ['no host', `GET /api/v2/person HTTP/1.1\r\n\r\n${SECOND}`],
  ])('%s: is rejected, and what follows is not taken for a request', async (_, bytes) => {
    expect(statusesOf(await send(bytes))).toEqual([400]);
  });

  it('headers of 40 kB: are rejected, and a token of that size as a token', async () => {
    expect(
      statusesOf(await send(`GET /api/v2/person HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(40_000)}\r\n\r\n`)),
    ).toEqual([431]);
    const bearer = `Authorization: Bearer ${'a'.repeat(40_000)}`;
    expect(statusesOf(await send(`GET /api/v2/person HTTP/1.1\r\nHost: x\r\n${bearer}\r\n\r\n`))).toEqual([401]);
  });

  it('an honest request right after: is served', async () => {
    const response = await send(
      `GET /api/v2/person HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`,
    );
    expect(statusesOf(response)).toEqual([200]);
  });
});

describe('SSRF', () => {
  it.each([
    'Host: evil.example',
    'Host: evil.example\r\nX-Forwarded-Host: evil.example\r\nForwarded: host=evil.example',
  ])('%s: links lead to the configured address all the same', async (headers) => {
    const rest = `${headers}\r\nX-Forwarded-Proto: gopher\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`;
    const response = await send(`GET /api/v2/computers?limit=1&offset=1 HTTP/1.1\r\n${rest}`);
    const body = JSON.parse(response.slice(response.indexOf('{'), response.lastIndexOf('}') + 1));
    for (const link of [body.next, body.previous]) expect(link).toMatch(new RegExp(`^${PUBLIC_URL}/`));
    expect(response).not.toContain('evil.example');
  });

  it('a whole address as path: is no path of this server', async () => {
    let requested = 0;
    const other = createServer((_, res) => {
      requested++;
      res.end();
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    for (const line of [`GET ${url}/api/v2/person`, `GET //127.0.0.1/`, `GET /docs/${encodeURIComponent(url)}`]) {
      const [status] = statusesOf(await send(`${line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`));
      expect([400, 401, 404]).toContain(status);
    }
    for (const target of [
      'http://[a/',
      'http://a%b/',
      'http://?x',
      'foo://a',
      'foo://xn--a/',
      `http://${'a'.repeat(300)}?x`,
    ]) {
      const response = await send(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      expect(response).toMatch(/^HTTP\/1.1 4\d\d /);
      expect(response).toMatch(/content-type: application\/json/i);
    }
    const texts = [url, `${url}/x.xml`, `file:///etc/passwd`];
    for (const text of texts) {
      await app.call('POST', '/scripts', { token, body: { title: text, code: `#!${text}\n`, attachments: [] } });
      await app.call('POST', '/usg-profiles', { token, body: { title: text, mode: 'audit', tailoring_file: text } });
      await app.call('PATCH', '/person', { token, body: { name: text } });
    }
    other.close();
    expect(requested).toBe(0);
  });
});

describe('DEBUG', () => {
  it.each([
    '/metrics',
    '/debug',
    '/debug/pprof',
    '/json',
    '/json/version',
    '/inspector',
    '/namespaces',
    '/api/v1/namespaces',
    '/.env',
    '/.git/config',
    '/status',
    '/server-status',
    '/heapdump',
  ])('%s is not served', async (path) => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: 'NotFound', code: 404 });
  });

  it('errors show neither stacks nor paths nor statements', async () => {
    for (const path of [
      '/api/v2/computers?limit=x',
      '/api/v2/computers/%00',
      '/api/v2/nowhere',
      '/docs/../package.json',
    ]) {
      const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
        headers: { authorization: `Bearer ${token}` },
      });
      expect(await response.text()).not.toMatch(/ {2,}at |node_modules|\/src\/|select |\.ts:/i);
    }
  });
});

describe('SLOW-headers/body', () => {
  it('are given 10 s and 60 s, and are looked at often enough', () => {
    expect(SERVER_LIMITS).toEqual({ headersTimeoutMs: 10_000, requestTimeoutMs: 60_000, checkIntervalMs: 2000 });
  });
});
