import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type NextFunction, type Request, type Response } from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DomainError } from '../../../src/domain/common/errors.ts';
import { createCodecRouter } from '../../../temporal/encryption/codec-server.ts';

let server: Server;
let url: string;

beforeAll(async () => {
  const app = express();
  const encryptionKeys = [{ id: 'k', key: randomBytes(32) }];
  app.use('/codec', createCodecRouter({ encryptionKeys, allow: (req) => req.headers.authorization === 'Bearer good' }));
  app.use((error: unknown, _req: Request, res: Response, _next: NextFunction) => {
    res
      .status(error instanceof DomainError ? 400 : 500)
      .json({ error: error instanceof DomainError ? error.code : '' });
  });
  server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/codec`;
});

afterAll(() => new Promise((resolve) => server.close(resolve)));

async function post(path: string, body: string, authorization = 'Bearer good') {
  const response = await fetch(`${url}/${path}`, { method: 'POST', body, headers: { authorization } });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const base64 = (text: string) => Buffer.from(text).toString('base64');
const payload = { metadata: { encoding: base64('json/plain') }, data: base64('"hello"') };

describe('POST /codec/encode, /codec/decode', () => {
  it('decodes what it encoded, in the wire format of the Temporal UI', async () => {
    const encoded = await post('encode', JSON.stringify({ payloads: [payload] }));
    expect(encoded.status).toBe(200);
    expect(JSON.stringify(encoded.body)).not.toContain(payload.data);
    const decoded = await post('decode', JSON.stringify(encoded.body));
    expect(decoded).toEqual({ status: 200, body: { payloads: [payload] } });
  });

  it.each(['{}', '{"payloads":null}', '{"payloads":[]}'])('takes %s for no payloads', async (none) => {
    for (const path of ['encode', 'decode']) {
      expect(await post(path, none)).toEqual({ status: 200, body: { payloads: [] } });
    }
  });

  it('rejects callers that may not read payloads', async () => {
    expect(await post('decode', '{"payloads":[]}', 'Bearer bad')).toEqual({
      status: 400,
      body: { error: 'Unauthorized' },
    });
  });

  it.each([
    ['not JSON', '{', 'InvalidJson'],
    ['a list', '[]', 'InvalidParameter'],
    ['payloads that are no list', '{"payloads":{}}', 'InvalidParameter'],
    ['payloads that are none', '{"payloads":[1]}', 'InvalidParameter'],
    ['metadata that is no text', '{"payloads":[{"metadata":{"encoding":1}}]}', 'InvalidParameter'],
    ['null', 'null', 'InvalidJson'],
    [
      'an unknown key',
      JSON.stringify({ payloads: [{ metadata: { encoding: base64('binary/encrypted') }, data: '' }] }),
      'InvalidParameter',
    ],
    ...['!!!', 'A', '\0', 'ä'].flatMap((text) => [
      [`data ${JSON.stringify(text)}`, JSON.stringify({ payloads: [{ data: text }] }), 'InvalidParameter'],
      [
        `metadata ${JSON.stringify(text)}`,
        JSON.stringify({ payloads: [{ metadata: { encoding: text } }] }),
        'InvalidParameter',
      ],
    ]),
    ['a body that is too large', `{"payloads":["${'x'.repeat(5 * 1024 * 1024)}"]}`, 'PayloadTooLarge'],
  ])('rejects %s', async (_name, body, error) => {
    expect(await post('decode', body)).toEqual({ status: 400, body: { error } });
  });
});
