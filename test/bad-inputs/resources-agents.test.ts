import { connect } from 'node:net';
import { text as readAll } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { encode } from '../../src/protocol/bpickle.ts';
import { RawAgent } from '../support/agents/raw-agent.ts';
import { times, useGuardedWorld } from './resource-guard.ts';

/** What attacks cost a server, measured in its own process while an honest client goes on. @see docs/reliability.md#cost-of-an-attack */
const world = useGuardedWorld();
const { call } = world;
const MIB = 1024 * 1024;
/** Thirty megabytes are put together, and hashed, in one go: 20 ms each where memory is warm, whatever is in them. */
const LARGE = { blockedMs: 150 };

describe('agents', () => {
  it('AGENT-poison: bodies that unpack into more than they are', async () => {
    const nested = Buffer.from(`du8:messages${'l'.repeat(100_000)}${';'.repeat(100_000)};`);
    const bodies = [
      nested,
      Buffer.from('du8:messageslu2147483648:x;;'),
      Buffer.from(`du8:messagesli${'9'.repeat(1_000_000)};;;`),
      Buffer.from(`du8:messages${'ln;'.repeat(1)}`),
      Buffer.alloc(8 * MIB, 0x6c),
    ];
    const attack = async () => {
      for (const body of bodies) {
        const headers = { 'content-type': 'application/octet-stream' };
        await times(3, [400], () => call('POST', '/message-system', body, headers));
      }
    };
    await world.server.expectHarmless(attack);
  });

  it('AGENT-poison: 30 MB of messages of wrong fields are taken once and quarantined', async () => {
    const agent = await RawAgent.enrol({ url: world.server.url }, { name: 'standalone' });
    await agent.exchange();
    const wrong = Array.from({ length: 100 }, () => ({
      type: 'computer-info',
      hostname: 7,
      annotations: 'x'.repeat(300_000),
    }));
    let taken = 0;
    const attack = async () => {
      taken += wrong.length;
      expect((await agent.exchange(wrong)).nextExpected).toBe(taken);
    };
    // The body itself, what it is collected from, and its texts.
    await world.server.expectHarmless(attack, { ...LARGE, rssMb: 200 });
  });

  it.each([
    ['10 million numbers', 'i1;'.repeat(10_000_000)],
    ['a million empty dicts', 'd;'.repeat(999_990)],
    ['a million nothings', 'n'.repeat(999_990)],
    ['as many empty dicts as there may be', `${'d;'.repeat(149_990)}s29000000:${'x'.repeat(29_000_000)}`],
  ])('AGENT-poison: %s instead of messages', async (_, content) => {
    const agent = await RawAgent.enrol({ url: world.server.url }, { name: 'standalone' });
    const body = Buffer.from(`du8:messagesl${content};u8:sequencei0;;`);
    const headers = { 'content-type': 'application/octet-stream', 'x-computer-id': agent.secureId };
    const attack = () => times(2, [200, 400, 429], () => call('POST', '/message-system', body, headers));
    await world.server.expectHarmless(attack, { ...LARGE, rssMb: 200 });
  });

  it('AGENT-poison: many small bodies at once that unpack into more than they are', async () => {
    const body = Buffer.from(`du8:messagesl${'d;'.repeat(99_000)};;`);
    const head = `POST /message-system HTTP/1.1\r\nHost: x\r\nContent-Type: application/octet-stream\r\nConnection: close\r\n`;
    const { hostname, port } = new URL(world.server.url);
    const attack = async () => {
      const sockets = Array.from({ length: 60 }, () => connect(Number(port), hostname));
      const responses = sockets.map(readAll);
      const sent = sockets.map((socket) => {
        socket.write(`${head}Content-Length: ${body.length}\r\n\r\n`);
        return new Promise((resolve) => socket.write(body.subarray(0, -1), resolve));
      });
      await Promise.all(sent);
      for (const socket of sockets) socket.write(body.subarray(-1));
      const statuses = (await Promise.all(responses)).map((response) => Number(response.slice(9, 12)));
      expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
    };
    // They are read by turns: what is unpacked at once is a few of them. Together they take a gigabyte and more.
    await world.server.expectHarmless(attack, { ...LARGE, cpuMs: 4000, rssMb: 300 });
  });

  it('AGENT-poison: more packages than there are', async () => {
    const agent = await RawAgent.enrol({ url: world.server.url }, { name: 'standalone' });
    await agent.exchange();
    const installed = Array.from({ length: 400_000 }, (_, n) => n * 2 + 1);
    const attack = async () => expect((await agent.exchange([{ type: 'packages', installed }])).status).toBe(200);
    await world.server.expectHarmless(attack, { rssMb: 150 });
  });

  it('AGENT-poison: reports of hardware that take long to read', async () => {
    const agent = await RawAgent.enrol({ url: world.server.url }, { name: 'standalone' });
    await agent.exchange();
    const references = '&#65;'.repeat(MIB / 5 - 30);
    const data = `<list><node id="a" class="b"><description>${references}</description></node></list>`;
    const reports = Array.from({ length: 10 }, () => ({ type: 'hardware-info', data }));
    const attack = async () => expect((await agent.exchange(reports)).status).toBe(200);
    // One report of a megabyte is read in one go.
    await world.server.expectHarmless(attack, { blockedMs: 160, rssMb: 150 });
  });

  it('AGENT-flood: one agent without end is rejected, and nobody else', async () => {
    const flooding = await RawAgent.enrol({ url: world.server.url }, { name: 'standalone' });
    const other = await RawAgent.enrol({ url: world.server.url }, { name: 'standalone' });
    const body = encode(flooding.payload(Array.from({ length: 400 }, () => ({ type: 'computer-tags', tags: 'x' }))));
    const headers = { 'content-type': 'application/octet-stream', 'x-computer-id': flooding.secureId };
    const statuses = new Map<number, number>();
    const attack = async () => {
      for (let i = 0; i < 10; i++) {
        const responses = await Promise.all(
          Array.from({ length: 25 }, () => call('POST', '/message-system', body, headers)),
        );
        for (const { status } of responses) statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
      expect((await other.exchange()).status).toBe(200);
    };
    await world.server.expectHarmless(attack);
    expect(statuses.get(429)).toBeGreaterThan(50);
    expect([...statuses.keys()].toSorted()).toEqual([200, 429]);
  });
});
