import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  anAccount,
  anOperation,
  createGatewayWorld,
  type GatewayWorld,
  inbox,
  messageStates,
} from '../../support/agents/gateway-world.ts';
import { post, RawAgent, result } from '../../support/agents/raw-agent.ts';

let world: GatewayWorld;
let account: { id: number; name: string };
let agent: RawAgent;

beforeAll(async () => {
  world = await createGatewayWorld();
  account = await anAccount(world.db);
});
afterAll(() => world.close());
beforeEach(async () => {
  await world.db.query('delete from agent_inbox');
  agent = await RawAgent.enrol(world, account);
});

const tags = (list: string) => ({ type: 'computer-tags', tags: list });
const tagsOf = async (id: number) => {
  const [row] = await world.db.query<{ tags: string[] }>('select tags from computer where id = $1', [id]);
  return row!.tags;
};

describe('counters of an exchange', () => {
  it('adopts whatever the agent starts with', async () => {
    agent.sequence = 27;
    agent.next = 36;
    const first = await agent.exchange([tags('a')]);
    expect(first.nextExpected).toBe(28);
    expect(await tagsOf(agent.id)).toEqual(['a']);
  });

  it('AGENT-dup: counts a repeated payload once and returns the same response', async () => {
    await agent.exchange();
    const operation = await anOperation(world.db, agent.id);
    const headers = agent.headers();
    const payload = agent.payload([result(999_999), tags('a')]);
    const responses = await Promise.all(Array.from({ length: 20 }, () => post(world, payload, headers)));
    for (const response of responses) expect(response.body).toEqual(responses[0]!.body);
    expect(responses[0]!.messages.map((m) => m['operation-id'])).toEqual([operation]);
    expect((await inbox(world.db)).map((row) => row.kind)).toEqual(['delivered']);
    agent.ingest(responses[0]!);
    expect((await agent.exchange()).status).toBe(200);
  });

  it('AGENT-old: skips messages counted before and takes the rest', async () => {
    await agent.exchange();
    const operation = await anOperation(world.db, agent.id);
    const lost = await agent.send([tags('a')]);
    expect(lost.types).toEqual(['install-snaps']);
    const again = await agent.exchange([tags('never'), tags('b')]);
    expect(again.nextExpected).toBe(agent.sequence);
    expect(again.messages.map((m) => m['operation-id'])).toEqual([operation]);
    expect(await tagsOf(agent.id)).toEqual(['b']);
    expect((await inbox(world.db)).filter((row) => row.kind === 'delivered')).toHaveLength(1);
    await agent.exchange([result(operation)]);
    expect(await messageStates(world.db, [operation])).toEqual(['acked']);
    expect((await inbox(world.db)).map((row) => [row.kind, row.ok])).toEqual([
      ['delivered', null],
      ['result', true],
    ]);
  });

  it('AGENT-gap: processes nothing, returns the expected number and sends no operation', async () => {
    await agent.exchange([tags('a')]);
    const operation = await anOperation(world.db, agent.id);
    const gap = await agent.exchange([tags('b')], { sequence: 10 });
    expect(gap.nextExpected).toBe(1);
    expect(gap.messages).toEqual([]);
    expect(await tagsOf(agent.id)).toEqual(['a']);
    const after = await agent.exchange([{ type: 'resynchronize' }, tags('b')]);
    expect(after.messages.map((m) => m['operation-id'])).toEqual([operation]);
    expect(await tagsOf(agent.id)).toEqual(['b']);
  });

  it('follows an agent whose own counter of wanted messages went back or ahead', async () => {
    await agent.exchange();
    const operations = [await anOperation(world.db, agent.id), await anOperation(world.db, agent.id)];
    await agent.exchange();
    agent.next = 0;
    const back = await agent.exchange();
    expect(back.messages.map((m) => m['operation-id'])).toEqual(operations);
    agent.next = 500;
    const ahead = await agent.exchange();
    expect(ahead.messages.map((m) => m['operation-id'])).toEqual(operations);
    const acknowledged = await agent.exchange();
    expect(acknowledged.messages).toEqual([]);
    expect(await messageStates(world.db, operations)).toEqual(['acked', 'acked']);
  });

  it('acknowledges part of what was sent', async () => {
    await agent.exchange();
    const operations = [await anOperation(world.db, agent.id), await anOperation(world.db, agent.id)];
    await agent.send();
    agent.next += 1;
    const rest = await agent.exchange();
    expect(rest.messages.map((m) => m['operation-id'])).toEqual(operations.slice(1));
    expect(await messageStates(world.db, operations)).toEqual(['acked', 'sent']);
  });

  it('responds to a copy, by its stale token, with unknown-id and the title of the original', async () => {
    await agent.exchange();
    const stale = agent.token!;
    await agent.exchange();
    const copy = await post(world, agent.payload([tags('copy')]), {
      ...agent.headers(),
      'X-Exchange-Token': stale,
    });
    expect(copy.types).toEqual(['unknown-id', 'accepted-types']);
    expect(copy.messages[0]!['clone-of']).toMatch(/^computer-/);
    expect(copy.token).toBeNull();
    expect(await tagsOf(agent.id)).toEqual([]);
    expect((await agent.exchange([tags('original')])).status).toBe(200);
    expect(await tagsOf(agent.id)).toEqual(['original']);
  });

  it('AGENT-old: an exchange that comes late takes no counter back, hands nothing out and makes no clone', async () => {
    await agent.exchange();
    agent.token = null;
    const early = agent.payload();
    const [first, second] = [await anOperation(world.db, agent.id), await anOperation(world.db, agent.id)];
    await agent.exchange();
    await agent.exchange([result(first)]);
    const waiting = await anOperation(world.db, agent.id);
    for (const late of [early, agent.payload([result(second)], { sequence: 0, 'next-expected-sequence': 0 })]) {
      const response = await post(world, late, { 'X-Computer-ID': agent.secureId });
      expect(response).toMatchObject({ types: [], nextExpected: 1, token: agent.token });
    }
    const honest = await agent.exchange([result(second)]);
    expect(honest.messages.map((m) => m['operation-id'])).toEqual([waiting]);
    expect(await messageStates(world.db, [first, second, waiting])).toEqual(['acked', 'acked', 'sent']);
  });

  it('AGENT-dup: a payload repeated without a token leaves every response to it good', async () => {
    await agent.exchange();
    agent.token = null;
    const headers = { 'X-Computer-ID': agent.secureId };
    const payload = agent.payload([tags('a')]);
    const responses = [];
    for (let i = 0; i < 3; i++) responses.push(await post(world, payload, headers));
    expect(new Set(responses.map(({ token }) => token))).toHaveLength(1);
    agent.ingest(responses[0]!);
    const { types, token } = await agent.exchange([tags('b')]);
    expect(types).toEqual([]);
    expect(token).not.toBe(responses[0]!.token);
  });

  it('AGENT-dup: the first sending may come after its repetition without a token', async () => {
    await agent.exchange();
    const [headers, payload] = [agent.headers(), agent.payload()];
    agent.token = null;
    const again = await agent.send();
    const operation = await anOperation(world.db, agent.id);
    expect((await post(world, payload, headers)).messages.map((m) => m['operation-id'])).toEqual([operation]);
    expect((await post(world, payload, headers)).messages.map((m) => m['operation-id'])).toEqual([operation]);
    agent.ingest(again);
    const honest = await agent.exchange([tags('b')]);
    expect(honest.messages.map((m) => m['operation-id'])).toEqual([operation]);
    expect((await inbox(world.db)).filter((row) => row.kind === 'delivered')).toHaveLength(1);
  });

  it('AGENT-forge: notices a copy without a token of its own, however old', async () => {
    await agent.exchange([tags('a')]);
    const copy = new RawAgent(world, agent.id, agent.secureId);
    await agent.exchange([tags('b')]);
    const start = await copy.exchange();
    expect(start).toMatchObject({ types: [], nextExpected: 2 });
    expect((await copy.exchange([tags('copy')])).types).toEqual([]);
    const original = await agent.exchange([tags('c')]);
    expect(original.messages[0]!['clone-of']).toMatch(/^computer-/);
  });

  it('runs concurrent exchanges of one computer one after another', async () => {
    await agent.exchange();
    const operations = await Promise.all(Array.from({ length: 5 }, () => anOperation(world.db, agent.id)));
    agent.token = null;
    const responses = await Promise.all(Array.from({ length: 10 }, () => agent.send([tags('x'), tags('y')])));
    for (const response of responses) {
      expect(response.nextExpected).toBe(2);
      expect(response.messages.map((m) => m['operation-id'])).toEqual([...operations].sort((a, b) => a - b));
    }
    expect((await inbox(world.db)).filter((row) => row.kind === 'delivered')).toHaveLength(5);
  });

  it('takes at most 1,000 messages of one payload and requests the rest', async () => {
    const many = Array.from({ length: 1200 }, (_, i) => tags(`t${i}`));
    expect((await agent.exchange(many)).nextExpected).toBe(1000);
    expect(await tagsOf(agent.id)).toEqual(['t999']);
    expect((await agent.exchange(many.slice(1000))).nextExpected).toBe(1200);
    expect(await tagsOf(agent.id)).toEqual(['t1199']);
  });
});

describe('identities', () => {
  it('sends an unknown one back to registration', async () => {
    for (const id of ['registering', 'nobody']) {
      const response = await post(world, agent.payload(), { 'X-Computer-ID': id });
      expect(response.types).toEqual(['unknown-id', 'accepted-types']);
      expect(response.messages[1]!['types']).toEqual(['register']);
      expect(response.body['next-expected-sequence']).toBeUndefined();
    }
  });

  it('ends what a removed computer was given, once', async () => {
    await agent.exchange();
    const operation = await anOperation(world.db, agent.id);
    const waiting = await anOperation(world.db, agent.id, { deliverAt: new Date(Date.now() + 86_400_000) });
    await agent.exchange();
    await world.db.query('delete from computer where id = $1', [agent.id]);
    for (let i = 0; i < 2; i++) expect((await agent.send()).types).toEqual(['unknown-id', 'accepted-types']);
    const rows = await inbox(world.db);
    expect(rows.filter((row) => row.kind === 'gone').map((row) => row.activity_id)).toEqual([operation, waiting]);
  });

  it('keeps an archived computer quiet but takes the result it owes', async () => {
    await agent.exchange();
    const operation = await anOperation(world.db, agent.id);
    await agent.exchange();
    await anOperation(world.db, agent.id);
    await world.db.query('update computer set archived = true where id = $1', [agent.id]);
    const response = await agent.exchange([result(operation), tags('late')]);
    expect(response.types).toEqual(['accepted-types']);
    expect(response.messages[0]!['types']).toEqual(['register']);
    expect((await inbox(world.db)).map((row) => row.kind)).toEqual(['delivered', 'result']);
    expect(await tagsOf(agent.id)).toEqual([]);
  });
});
