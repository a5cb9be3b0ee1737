import { connect, type Socket } from 'node:net';
import { text as readAll } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encode } from '../../../src/protocol/bpickle.ts';
import { anAccount, createGatewayWorld, type GatewayWorld } from '../../support/agents/gateway-world.ts';
import { RawAgent } from '../../support/agents/raw-agent.ts';

/** Responses of the gateway as they are sent, whatever they contain. */
let world: GatewayWorld;

beforeAll(async () => {
  world = await createGatewayWorld();
});
afterAll(() => world?.close());

const MIB = 1024 * 1024;

/** Sends a whole request before it reads the response, as the HTTP clients of agents do. */
async function sendWhole(head: string, body: Buffer): Promise<{ head: string; body: unknown }> {
  const socket = connect(Number(new URL(world.url).port), '127.0.0.1');
  socket.pause();
  await written(socket, Buffer.concat([Buffer.from(`${head}\r\n\r\n`), body]));
  const response = (await readAll(socket)).split('\r\n\r\n');
  return { head: response[0]!, body: JSON.parse(response[1]!) };
}

function written(socket: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}

function chunked(body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')]);
}

describe('error responses', () => {
  const large = Buffer.alloc(33 * MIB);
  const length = `Content-Length: ${large.length}`;

  it.each([
    ['an exchange', `POST /message-system HTTP/1.1\r\nHost: x\r\n${length}`, large, 413],
    ['an exchange in chunks', 'POST /message-system HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked', large, 413],
    ['a ping', `POST /ping HTTP/1.1\r\nHost: x\r\n${length}`, large, 413],
    ['another message API', `POST /message-system HTTP/1.1\r\nHost: x\r\nX-Message-API: 9.9\r\n${length}`, large, 404],
    ['a compressed body', `POST /ping HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\n${length}`, large, 415],
    ['a wrong method', `PUT /message-system HTTP/1.1\r\nHost: x\r\n${length}`, large, 405],
  ])('BODY-big: %s of 33 MiB gets its response', async (_, head, bytes, status) => {
    const response = await sendWhole(head, head.includes('chunked') ? chunked(bytes) : bytes);
    expect(response.head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(response.head).toContain('\r\nConnection: close');
    expect(response.body).toMatchObject({ code: status });
  });

  it('BODY-big: comes soon to a client that stops in the middle', async () => {
    const { head, body } = await sendWhole(`POST /ping HTTP/1.1\r\nHost: x\r\n${length}`, Buffer.alloc(MIB));
    expect(head).toMatch(/^HTTP\/1.1 413 /);
    expect(body).toMatchObject({ error: 'PayloadTooLarge', code: 413 });
  });

  it('METHOD: every path returns 405 to other methods, and HEAD as GET', async () => {
    const paths = { '/message-system': 'POST', '/ping': 'POST', '/attachment/1': 'GET', '/hash-id-databases/x': 'GET' };
    for (const [path, allowed] of Object.entries(paths)) {
      for (const method of ['OPTIONS', 'DELETE', 'PATCH']) {
        const response = await fetch(`${world.url}${path}`, { method });
        expect([response.status, response.headers.get('allow')], `${method} ${path}`).toEqual([405, allowed]);
        expect(await response.json()).toMatchObject({ error: 'MethodNotAllowed' });
      }
      const head = await fetch(`${world.url}${path}`, { method: 'HEAD' });
      expect([head.status, await head.text()], path).toEqual([allowed === 'GET' ? 404 : 405, '']);
    }
  });
});

describe('headers', () => {
  it('nobody may store a response or guess its type', async () => {
    const agent = await RawAgent.enrol(world, await anAccount(world.db));
    const post = (path: string, body: Buffer | string, headers = {}) =>
      fetch(`${world.url}${path}`, { method: 'POST', body: Buffer.from(body), headers });
    const register = { type: 'register', computer_title: 'a', hostname: 'a', account_name: 'nobody' };
    const responses = {
      registration: await post('/message-system', encode({ messages: [register] })),
      exchange: await post('/message-system', encode(agent.payload()), agent.headers()),
      ping: await post('/ping', `insecure_id=${agent.id}`),
      malformed: await post('/message-system', 'x'),
      attachment: await fetch(`${world.url}/attachment/1`, { headers: agent.headers() }),
      method: await fetch(`${world.url}/ping`),
    };
    expect(Object.values(responses).map(({ status }) => status)).toEqual([200, 200, 200, 400, 404, 405]);
    for (const [name, { headers }] of Object.entries(responses)) {
      const names = ['cache-control', 'x-content-type-options', 'referrer-policy'];
      expect(
        names.map((key) => headers.get(key)),
        name,
      ).toEqual(['no-store', 'nosniff', 'no-referrer']);
    }
  });
});
