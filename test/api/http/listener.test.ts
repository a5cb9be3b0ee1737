import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { text as readAll } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listen } from '../../../src/api/app/server.ts';
import { endWithUnreadBody } from '../../../src/process/http-response.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { createTestApp, type TestApp } from '../../support/http/app.ts';

let database: TestDatabase;
let app: TestApp;

beforeAll(async () => {
  database = await createTestDatabase();
  app = await createTestApp(database.persistence);
});

afterAll(async () => {
  await app?.close();
  await database?.drop();
});

describe('the listener', () => {
  it('HTTP-smuggle: responds with 400 and an error body to what is not HTTP', async () => {
    const server = await listen((_req, res) => res.end('ok'), { host: '127.0.0.1', port: 0 });
    const requests = [
      'not http\r\n\r\n',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc',
    ];
    for (const request of requests) {
      const { head, body } = await send(server.port, request);
      expect(head).toMatch(/^HTTP\/1.1 400 /);
      expect(body).toMatchObject({ code: 400 });
    }
    await server.close();
  });

  it('METHOD: responds with 405 to an unknown method', async () => {
    const server = await listen((_req, res) => res.end('ok'), { host: '127.0.0.1', port: 0 });
    const { head, body } = await send(server.port, 'EXPLODE /api/v2/computers HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1.1 405 /);
    expect(head).toContain('\r\nAllow: GET, HEAD, POST, PUT, PATCH, DELETE\r\n');
    expect(body).toMatchObject({ error: 'MethodNotAllowed', code: 405 });
    await server.close();
  });

  it.each([
    ['with a public address by TLS', 'https://fleet.example', {}, true],
    ['behind a proxy that ends TLS', 'http://fleet.example', { 'x-forwarded-proto': 'https' }, true],
    ['without TLS', 'http://fleet.example', { 'x-forwarded-proto': 'http' }, false],
  ])('sends HSTS only with TLS: %s', async (_, publicUrl, headers, kept) => {
    const server = await listen((_req, res) => res.end('ok'), { host: '127.0.0.1', port: 0, publicUrl });
    const response = await fetch(`http://127.0.0.1:${server.port}/`, { headers });
    expect(response.headers.get('strict-transport-security')).toBe(kept ? 'max-age=31536000' : null);
    await server.close();
  });

  it.each([
    ['no host', 'GET /healthz HTTP/1.1\r\n\r\n'],
    ['no host and an expectation', 'POST /ping HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc'],
    ['an unknown expectation', 'GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: 200-ok\r\n\r\n'],
  ])('rejects %s with an error body', async (_, request) => {
    const server = await listen((_req, res) => res.end('ok'), { host: '127.0.0.1', port: 0 });
    const response = (await sendText(server.port, request)).replace('HTTP/1.1 100 Continue\r\n\r\n', '');
    const [head, body] = response.split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1.1 400 /);
    expect(JSON.parse(body!)).toMatchObject({ error: 'InvalidParameter', code: 400, message: expect.any(String) });
    await server.close();
  });

  it.each([
    ['a body that is waited for', 'POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n'],
    ['an older version without a host', 'GET / HTTP/1.0\r\n'],
  ])('serves %s', async (_, head) => {
    const server = await listen((req, res) => req.resume().once('end', () => res.end('served')), {
      host: '127.0.0.1',
      port: 0,
    });
    const text = await sendText(server.port, `${head}Connection: close\r\n\r\n${head.startsWith('POST') ? '{}' : ''}`);
    expect(text.startsWith('HTTP/1.1 100 Continue\r\n\r\n')).toBe(head.includes('Expect'));
    expect(text).toMatch(/HTTP\/1.1 200 .*served/s);
    await server.close();
  });

  it('BODY-big: responds with 413 and closes before the end of the body', async () => {
    const server = await listen(app.listener, { host: '127.0.0.1', port: 0 });
    const post = 'POST /api/v2/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
    const requests = [
      `${post}Content-Length: ${100 * 1024 * 1024}\r\n\r\n{`,
      `${post}Transfer-Encoding: chunked\r\n\r\n${'100000\r\n'.concat('x'.repeat(0x100000), '\r\n').repeat(3)}`,
    ];
    for (const request of requests) {
      const { head, body } = await send(server.port, request);
      expect(head).toMatch(/^HTTP\/1.1 413 /);
      expect(head).toContain('\r\nConnection: close');
      expect(body).toMatchObject({ error: 'PayloadTooLarge', code: 413 });
    }
    await server.close();
  });

  it.each([
    ['a rejected body', 'POST /rejected HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nabcde'],
    ['a request without a host', 'GET /nobody HTTP/1.1\r\n\r\n'],
    ['an unknown expectation', 'GET /nobody HTTP/1.1\r\nHost: x\r\nExpect: wonders\r\n\r\n'],
    ['a request that closes the connection', 'GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
  ])('HTTP-smuggle: serves nothing after %s, whose response closes the connection', async (_, first) => {
    const { server, served } = await listenSlowly();
    const text = await sendText(server.port, `${first}DELETE /next HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect(text.match(/HTTP\/1.1 /g)).toHaveLength(1);
    expect(served).not.toContain('/next');
    await server.close();
  });

  it.each(['xx\r\n\r\n', '\0', ' ', 'POST /cut HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'])(
    'HTTP-smuggle: responds to a request as it was served, whatever follows: %j',
    async (stray) => {
      const { server, served } = await listenSlowly();
      for (const close of ['', 'Connection: close\r\n']) {
        const text = await sendText(
          server.port,
          `POST /kept HTTP/1.1\r\nHost: x\r\n${close}Content-Length: 2\r\n\r\nab${stray}`,
        );
        expect(text).toMatch(/^HTTP\/1.1 200 .*served$/s);
      }
      expect(served.filter((url) => url === '/kept')).toHaveLength(2);
      await server.close();
    },
  );

  /** Takes a moment for each response. */
  async function listenSlowly() {
    const served: string[] = [];
    const server = await listen(
      (req, res) => {
        served.push(req.url!);
        if (req.url === '/rejected') {
          res.writeHead(413, { 'Content-Length': 2, Connection: 'close' });
          endWithUnreadBody(req, res, 'no');
        } else req.resume().once('end', () => setTimeout(() => res.end('served'), 50));
      },
      { host: '127.0.0.1', port: 0 },
    );
    return { server, served };
  }

  it('BODY-big: delivers an error that closes the connection to a client that still sends', async () => {
    const server = await listen(app.listener, { host: '127.0.0.1', port: 0 });
    const length = 24 * 1024 * 1024;
    const socket = connect(server.port, '127.0.0.1');
    socket.pause();
    const head = `POST /api/v2/scripts HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${length}\r\n\r\n`;
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      socket.write(Buffer.concat([Buffer.from(head), Buffer.alloc(length)]), (error) =>
        error ? reject(error) : resolve(),
      );
    });
    expect(await readAll(socket)).toMatch(/^HTTP\/1.1 401 .*"Unauthorized"/s);
    await server.close();
  });

  it('keeps no response of a pipeline longer than the next one needs it', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const responses: WeakRef<ServerResponse>[] = [];
    let waiting: ServerResponse | null = null;
    // One response is always outstanding.
    const serve = (req: IncomingMessage, res: ServerResponse) => {
      req.resume();
      responses.push(new WeakRef(res));
      waiting?.end('served');
      waiting = res;
    };
    const server = await listen(serve, { host: '127.0.0.1', port: 0 });
    const socket = connect(server.port, '127.0.0.1').resume();
    for (let sent = 1; sent <= 200; sent++) {
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      await expect.poll(() => responses.length, { interval: 1 }).toBe(sent);
    }
    await setImmediate();
    collect();
    expect(responses.filter((response) => response.deref()).length).toBeLessThan(20);
    socket.destroy();
    await server.close();
  });

  async function send(port: number, request: string) {
    const [head, body] = (await sendText(port, request)).split('\r\n\r\n');
    return { head, body: JSON.parse(body!) };
  }

  function sendText(port: number, request: string): Promise<string> {
    const socket = connect(port, '127.0.0.1');
    socket.write(request);
    return readAll(socket);
  }
});
