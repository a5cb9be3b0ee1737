import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encode } from '../../../src/protocol/bpickle.ts';
import { createGatewayWorld, type GatewayWorld } from '../../support/agents/gateway-world.ts';
import { post } from '../../support/agents/raw-agent.ts';

let world: GatewayWorld;

beforeAll(async () => {
  world = await createGatewayWorld();
});
afterAll(() => world?.close());

describe('bad requests', () => {
  const status = async (body: Buffer, headers: Record<string, string> = {}) =>
    (await post(world, body, headers)).status;

  it('are rejected with 400 and change nothing', async () => {
    expect(await status(Buffer.from('x'))).toBe(400);
    expect(await status(Buffer.alloc(0))).toBe(400);
    expect(await status(encode([]))).toBe(400);
    expect(await status(encode({}))).toBe(400);
    expect(await status(encode({ messages: 'none' }))).toBe(400);
    expect(await status(encode({ messages: [], sequence: -1 }))).toBe(400);
    expect(await status(encode({ messages: [], sequence: 'one' }))).toBe(400);
    expect(await status(encode({ messages: [], sequence: 2n ** 70n }))).toBe(400);
    expect(await status(encode({ messages: [] }), { 'X-Computer-ID': 'someone' })).toBe(400);
    expect(await status(Buffer.from('l'.repeat(100_000)))).toBe(400);
  });

  it('are rejected by size, encoding, version and method', async () => {
    expect(await status(Buffer.alloc(33 * 1024 * 1024))).toBe(413);
    expect(await status(encode({ messages: [] }), { 'Content-Encoding': 'gzip' })).toBe(415);
    expect(await status(encode({ messages: [] }), { 'X-Message-API': '4.0' })).toBe(404);
    expect((await fetch(`${world.url}/message-system`)).status).toBe(405);
    expect((await fetch(`${world.url}/hash-id-databases/x_noble_amd64`)).status).toBe(404);
    expect((await fetch(`${world.url}/attachment/1`)).status).toBe(404);
    expect((await fetch(`${world.url}/attachment/%zz`)).status).toBe(400);
  });

  it('accept a body of almost 32 MiB', async () => {
    const padding = { type: 'custom-graph', data: Buffer.alloc(31 * 1024 * 1024) };
    expect((await post(world, { messages: [padding] })).types).toEqual(['accepted-types']);
  });
});
