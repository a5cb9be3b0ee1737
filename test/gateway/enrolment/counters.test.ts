import { describe, expect, it } from 'vitest';
import { anOperation, inbox, messageStates, useAgent } from '../../support/agents/gateway-world.ts';
import { post, RawAgent, result } from '../../support/agents/raw-agent.ts';

const given = useAgent({ exchanged: false });

const tags = (list: string) => ({ type: 'computer-tags', tags: list });
const tagsOf = async (id: number) => {
  const [row] = await given.world.db.query<{ tags: string[] }>('select tags from computer where id = $1', [id]);
  return row!.tags;
};

describe('counters of an exchange', () => {
  it('adopts whatever the agent starts with', async () => {
    given.agent.sequence = 27;
    given.agent.next = 36;
    const first = await given.agent.exchange([tags('a')]);
    expect(first.nextExpected).toBe(28);
    expect(await tagsOf(given.agent.id)).toEqual(['a']);
  });

  it('AGENT-dup: counts a repeated payload once and returns the same response', async () => {
    await given.agent.exchange();
    const operation = await anOperation(given.world.db, given.agent.id);
    const headers = given.agent.headers();
    const payload = given.agent.payload([result(999_999), tags('a')]);
    const responses = await Promise.all(Array.from({ length: 20 }, () => post(given.world, payload, headers)));
    for (const response of responses) expect(response.body).toEqual(responses[0]!.body);
    expect(responses[0]!.messages.map((m) => m['operation-id'])).toEqual([operation]);
    expect((await inbox(given.world.db)).map((row) => row.kind)).toEqual(['delivered']);
    given.agent.ingest(responses[0]!);
    expect((await given.agent.exchange()).status).toBe(200);
  });

  it('AGENT-old: skips messages counted before and takes the rest', async () => {
    await given.agent.exchange();
    const operation = await anOperation(given.world.db, given.agent.id);
    const lost = await given.agent.send([tags('a')]);
    expect(lost.types).toEqual(['install-snaps']);
    const again = await given.agent.exchange([tags('never'), tags('b')]);
    expect(again.nextExpected).toBe(given.agent.sequence);
    expect(again.messages.map((m) => m['operation-id'])).toEqual([operation]);
    expect(await tagsOf(given.agent.id)).toEqual(['b']);
    expect((await inbox(given.world.db)).filter((row) => row.kind === 'delivered')).toHaveLength(1);
    await given.agent.exchange([result(operation)]);
    expect(await messageStates(given.world.db, [operation])).toEqual(['acked']);
    expect((await inbox(given.world.db)).map((row) => [row.kind, row.ok])).toEqual([
      ['delivered', null],
      ['result', true],
    ]);
  });

  it('AGENT-gap: processes nothing, returns the expected number and sends no operation', async () => {
    await given.agent.exchange([tags('a')]);
    const operation = await anOperation(given.world.db, given.agent.id);
    const gap = await given.agent.exchange([tags('b')], { sequence: 10 });
    expect(gap.nextExpected).toBe(1);
    expect(gap.messages).toEqual([]);
    expect(await tagsOf(given.agent.id)).toEqual(['a']);
    const after = await given.agent.exchange([{ type: 'resynchronize' }, tags('b')]);
    expect(after.messages.map((m) => m['operation-id'])).toEqual([operation]);
    expect(await tagsOf(given.agent.id)).toEqual(['b']);
  });

  it('follows an agent whose own counter of wanted messages went back or ahead', async () => {
    await given.agent.exchange();
    const operations = [
      await anOperation(given.world.db, given.agent.id),
      await anOperation(given.world.db, given.agent.id),
    ];
    await given.agent.exchange();
    given.agent.next = 0;
    const back = await given.agent.exchange();
    expect(back.messages.map((m) => m['operation-id'])).toEqual(operations);
    given.agent.next = 500;
    const ahead = await given.agent.exchange();
    expect(ahead.messages.map((m) => m['operation-id'])).toEqual(operations);
    const acknowledged = await given.agent.exchange();
    expect(acknowledged.messages).toEqual([]);
    expect(await messageStates(given.world.db, operations)).toEqual(['acked', 'acked']);
  });

  it('acknowledges part of what was sent', async () => {
    await given.agent.exchange();
    const operations = [
      await anOperation(given.world.db, given.agent.id),
      await anOperation(given.world.db, given.agent.id),
    ];
    await given.agent.send();
    given.agent.next += 1;
    const rest = await given.agent.exchange();
    expect(rest.messages.map((m) => m['operation-id'])).toEqual(operations.slice(1));
    expect(await messageStates(given.world.db, operations)).toEqual(['acked', 'sent']);
  });

  it('responds to a copy, by its stale token, with unknown-id and the title of the original', async () => {
    await given.agent.exchange();
    const stale = given.agent.token!;
    await given.agent.exchange();
    const copy = await post(given.world, given.agent.payload([tags('copy')]), {
      ...given.agent.headers(),
      'X-Exchange-Token': stale,
    });
    expect(copy.types).toEqual(['unknown-id', 'accepted-types']);
    expect(copy.messages[0]!['clone-of']).toMatch(/^computer-/);
    expect(copy.token).toBeNull();
    expect(await tagsOf(given.agent.id)).toEqual([]);
    expect((await given.agent.exchange([tags('original')])).status).toBe(200);
    expect(await tagsOf(given.agent.id)).toEqual(['original']);
  });

  it('AGENT-old: an exchange that comes late takes no counter back, hands nothing out and makes no clone', async () => {
    await given.agent.exchange();
    given.agent.token = null;
    const early = given.agent.payload();
    const [first, second] = [
      await anOperation(given.world.db, given.agent.id),
      await anOperation(given.world.db, given.agent.id),
    ];
    await given.agent.exchange();
    await given.agent.exchange([result(first)]);
    const waiting = await anOperation(given.world.db, given.agent.id);
    for (const late of [early, given.agent.payload([result(second)], { sequence: 0, 'next-expected-sequence': 0 })]) {
      const response = await post(given.world, late, { 'X-Computer-ID': given.agent.secureId });
      expect(response).toMatchObject({ types: [], nextExpected: 1, token: given.agent.token });
    }
    const honest = await given.agent.exchange([result(second)]);
    expect(honest.messages.map((m) => m['operation-id'])).toEqual([waiting]);
    expect(await messageStates(given.world.db, [first, second, waiting])).toEqual(['acked', 'acked', 'sent']);
  });

  it('AGENT-dup: a payload repeated without a token leaves every response to it good', async () => {
    await given.agent.exchange();
    given.agent.token = null;
    const headers = { 'X-Computer-ID': given.agent.secureId };
    const payload = given.agent.payload([tags('a')]);
    const responses = [];
    for (let i = 0; i < 3; i++) responses.push(await post(given.world, payload, headers));
    expect(new Set(responses.map(({ token }) => token))).toHaveLength(1);
    given.agent.ingest(responses[0]!);
    const { types, token } = await given.agent.exchange([tags('b')]);
    expect(types).toEqual([]);
    expect(token).not.toBe(responses[0]!.token);
  });

  it('AGENT-dup: the first sending may come after its repetition without a token', async () => {
    await given.agent.exchange();
    const [headers, payload] = [given.agent.headers(), given.agent.payload()];
    given.agent.token = null;
    const again = await given.agent.send();
    const operation = await anOperation(given.world.db, given.agent.id);
    expect((await post(given.world, payload, headers)).messages.map((m) => m['operation-id'])).toEqual([operation]);
    expect((await post(given.world, payload, headers)).messages.map((m) => m['operation-id'])).toEqual([operation]);
    given.agent.ingest(again);
    const honest = await given.agent.exchange([tags('b')]);
    expect(honest.messages.map((m) => m['operation-id'])).toEqual([operation]);
    expect((await inbox(given.world.db)).filter((row) => row.kind === 'delivered')).toHaveLength(1);
  });

  it('AGENT-forge: notices a copy without a token of its own, however old', async () => {
    await given.agent.exchange([tags('a')]);
    const copy = new RawAgent(given.world, given.agent.id, given.agent.secureId);
    await given.agent.exchange([tags('b')]);
    const start = await copy.exchange();
    expect(start).toMatchObject({ types: [], nextExpected: 2 });
    expect((await copy.exchange([tags('copy')])).types).toEqual([]);
    const original = await given.agent.exchange([tags('c')]);
    expect(original.messages[0]!['clone-of']).toMatch(/^computer-/);
  });

  it('runs concurrent exchanges of one computer one after another', async () => {
    await given.agent.exchange();
    const operations = await Promise.all(Array.from({ length: 5 }, () => anOperation(given.world.db, given.agent.id)));
    given.agent.token = null;
    const responses = await Promise.all(Array.from({ length: 10 }, () => given.agent.send([tags('x'), tags('y')])));
    for (const response of responses) {
      expect(response.nextExpected).toBe(2);
      expect(response.messages.map((m) => m['operation-id'])).toEqual([...operations].sort((a, b) => a - b));
    }
    expect((await inbox(given.world.db)).filter((row) => row.kind === 'delivered')).toHaveLength(5);
  });

  it('takes at most 1,000 messages of one payload and requests the rest', async () => {
    const many = Array.from({ length: 1200 }, (_, i) => tags(`t${i}`));
    expect((await given.agent.exchange(many)).nextExpected).toBe(1000);
    expect(await tagsOf(given.agent.id)).toEqual(['t999']);
    expect((await given.agent.exchange(many.slice(1000))).nextExpected).toBe(1200);
    expect(await tagsOf(given.agent.id)).toEqual(['t1199']);
  });
});

describe('identities', () => {
  it('sends an unknown one back to registration', async () => {
    for (const id of ['registering', 'nobody']) {
      const response = await post(given.world, given.agent.payload(), { 'X-Computer-ID': id });
      expect(response.types).toEqual(['unknown-id', 'accepted-types']);
      expect(response.messages[1]!['types']).toEqual(['register']);
      expect(response.body['next-expected-sequence']).toBeUndefined();
    }
  });

  it('ends what a removed computer was given, once', async () => {
    await given.agent.exchange();
    const operation = await anOperation(given.world.db, given.agent.id);
    const waiting = await anOperation(given.world.db, given.agent.id, { deliverAt: new Date(Date.now() + 86_400_000) });
    await given.agent.exchange();
    await given.world.db.query('delete from computer where id = $1', [given.agent.id]);
    for (let i = 0; i < 2; i++) expect((await given.agent.send()).types).toEqual(['unknown-id', 'accepted-types']);
    const rows = await inbox(given.world.db);
    expect(rows.filter((row) => row.kind === 'gone').map((row) => row.activity_id)).toEqual([operation, waiting]);
  });

  it('keeps an archived computer quiet but takes the result it owes', async () => {
    await given.agent.exchange();
    const operation = await anOperation(given.world.db, given.agent.id);
    await given.agent.exchange();
    await anOperation(given.world.db, given.agent.id);
    await given.world.db.query('update computer set archived = true where id = $1', [given.agent.id]);
    const response = await given.agent.exchange([result(operation), tags('late')]);
    expect(response.types).toEqual(['accepted-types']);
    expect(response.messages[0]!['types']).toEqual(['register']);
    expect((await inbox(given.world.db)).map((row) => row.kind)).toEqual(['delivered', 'result']);
    expect(await tagsOf(given.agent.id)).toEqual([]);
  });
});
