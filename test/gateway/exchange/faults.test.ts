import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/process/logger.ts';
import type { BObject } from '../../../src/protocol/bpickle.ts';
import {
  anAccount,
  anOperation,
  createGatewayWorld,
  type GatewayWorld,
  inbox,
} from '../../support/agents/gateway-world.ts';
import { ping, post, RawAgent, result } from '../../support/agents/raw-agent.ts';

let world: GatewayWorld;
let agent: RawAgent;

beforeEach(async () => {
  world = await createGatewayWorld();
  agent = await RawAgent.enrol(world, await anAccount(world.db));
  await agent.exchange();
});
afterEach(() => world.close());

describe('a database that fails in the middle', () => {
  it('stores nothing, and the repeated payload counts once', async () => {
    const operation = await anOperation(world.db, agent.id);
    await agent.exchange();
    await world.db.query('alter table computer_process rename to computer_process_gone');
    const messages = [
      result(operation),
      { type: 'computer-info', hostname: 'new' },
      { type: 'active-process-info', 'kill-all-processes': true },
    ];
    expect((await agent.send(messages)).status).toBe(500);
    expect((await inbox(world.db)).map((row) => row.kind)).toEqual(['delivered']);
    const [before] = await world.db.query('select in_next from agent');
    expect(before).toEqual({ in_next: 0 });
    await world.db.query('alter table computer_process_gone rename to computer_process');
    expect((await agent.exchange(messages)).nextExpected).toBe(3);
    expect((await inbox(world.db)).map((row) => row.kind)).toEqual(['delivered', 'result']);
  });

  it('names the computer in the line about it, and nothing of what it sent', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'flotilla-gateway-'));
    const file = join(directory, 'log');
    const logged = await createGatewayWorld({ logger: createLogger({ level: 'info', role: 'test', file }) });
    try {
      const computer = await RawAgent.enrol(logged, await anAccount(logged.db));
      await computer.exchange();
      await logged.db.query('alter table computer_process rename to computer_process_gone');
      const messages: BObject[] = [
        { type: 'computer-info', hostname: 'canary' },
        { type: 'active-process-info', 'kill-all-processes': true },
      ];
      expect((await computer.send(messages)).status).toBe(500);
      await logged.connection.cut();
      expect((await computer.send()).status).toBe(503);
      const text = readFileSync(file, 'utf8');
      const lines = text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      const failed = lines.filter(({ msg }) => msg === 'an exchange failed');
      expect(failed).toEqual([expect.objectContaining({ level: 50, computerId: computer.id })]);
      expect(text).not.toContain('canary');
    } finally {
      await logged.close();
      rmSync(directory, { recursive: true });
    }
  });

  it('returns 503 to everybody while it is unavailable, and goes on when it is back', async () => {
    await world.connection.cut();
    expect((await agent.send()).status).toBe(503);
    const registration = { type: 'register', account_name: 'a', computer_title: 't' };
    expect((await post(world, { messages: [registration] })).status).toBe(503);
    const response = await fetch(`${world.url}/ping`, { method: 'POST', body: `insecure_id=${agent.id}` });
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ error: 'ServiceUnavailable', code: 503 });
    await world.connection.mend();
    await expect.poll(async () => (await agent.send()).status).toBe(200);
  });

  it('keeps the times of contact until they can be written', async () => {
    await world.gateway.close();
    await world.db.query('alter table computer_contact rename to gone');
    world.clock.advance(1000);
    await ping(world, agent.id);
    await world.gateway.close();
    await world.db.query('alter table gone rename to computer_contact');
    await world.gateway.close();
    expect(await world.db.query('select last_ping_time from computer_contact')).toEqual([
      { last_ping_time: world.clock.now() },
    ]);
  });
});

describe('several gateways on one database', () => {
  it('count each message once and hand each operation out in one place', async () => {
    const operations: number[] = [];
    for (let i = 0; i < 3; i++) operations.push(await anOperation(world.db, agent.id));
    const other = await world.another();
    agent.token = null;
    const tags = { type: 'computer-tags', tags: 'x' };
    const responses = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        post(i % 2 === 0 ? world : other, agent.payload([tags]), { 'X-Computer-ID': agent.secureId }),
      ),
    );
    for (const each of responses) {
      expect(each.nextExpected).toBe(1);
      expect(each.messages.map((message) => message['operation-id'])).toEqual(operations);
    }
    expect((await inbox(world.db)).filter((row) => row.kind === 'delivered')).toHaveLength(3);
  });
});
