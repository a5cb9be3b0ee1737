import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createServedFleet, type RawAgent, type ServedFleet } from '../../support/agents/raw-agent.ts';
import { script } from '../../support/scripts/scripts.ts';

let served: ServedFleet;

beforeAll(async () => {
  served = await createServedFleet();
});
afterAll(() => served?.close());

const call = (method: string, path: string, body?: object) =>
  served.app.call(method, path, { token: served.token, ...(body ? { body } : {}) });
const tag = (agent: RawAgent, tags: string[]) =>
  served.db.query('update computer set tags = $2::text[] where id = $1', [agent.id, tags]);

/** Creates a script and runs it on the computers of agents. @returns the id of the script */
async function execute(title: string, agents: readonly RawAgent[]): Promise<number> {
  const { id } = (await call('POST', '/scripts', script({ title }))).body;
  const query = agents.map((agent) => `id:${agent.id}`).join(' OR ');
  const run = await call('POST', `/scripts/${id}:execute`, { query });
  expect(run.status).toBe(200);
  await served.processEvents();
  return id;
}

describe('scripts', () => {
  it('come with the variables of their run and their computer, again after a lost response', async () => {
    const agents = (await served.enrol(2)) as [RawAgent, RawAgent];
    await tag(agents[0], ['lab', 'web']);
    await execute('Variables', agents);
    for (const [agent, tags] of [[agents[0], 'lab,web'] as const, [agents[1], ''] as const]) {
      const lost = await agent.send();
      const [message] = lost.messages;
      expect(lost.types).toEqual(['execute-script']);
      expect(message!['env']).toEqual({
        LANDSCAPE_ACCOUNT: 'standalone',
        LANDSCAPE_URL: expect.stringMatching(/^https?:/),
        LANDSCAPE_COMPUTER_ID: String(agent.id),
        LANDSCAPE_COMPUTER_TAGS: tags,
        LANDSCAPE_ACTIVITY_ID: String(message!['operation-id']),
        LANDSCAPE_ACTIVITY_CREATOR_ID: String(served.adminId),
        LANDSCAPE_ACTIVITY_CREATION_TIME: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      });
      expect((await agent.exchange()).messages).toEqual(lost.messages);
    }
  });

  it('name the tags that a computer has when it is given them', async () => {
    const [agent] = (await served.enrol(1)) as [RawAgent];
    await tag(agent, ['before']);
    await execute('Tags', [agent]);
    await tag(agent, ['after']);
    const [message] = (await agent.exchange()).messages;
    expect(message!['env']).toMatchObject({ LANDSCAPE_COMPUTER_TAGS: 'after' });
  });

  it('are rejected, or not sent at all, when they were redacted after their response was lost', async () => {
    const agents = (await served.enrol(2)) as [RawAgent, RawAgent];
    const id = await execute('Redacted', agents);
    for (const agent of agents) {
      expect((await agent.send()).messages[0]).toMatchObject({ interpreter: '/bin/bash', code: 'echo hello\n' });
    }
    expect((await call('POST', `/scripts/${id}:redact`)).status).toBe(204);
    const wiped = { interpreter: '/dev/null/redacted', code: '', attachments: {} };
    const early = await agents[0].exchange();
    expect(early.messages).toEqual([expect.objectContaining(wiped)]);
    await served.processEvents();
    await served.install([agents[1]]);
    await served.processEvents();
    // It keeps its position: the counters of both sides do not change.
    expect((await agents[1].exchange()).types).toEqual(['no-operation', 'install-snaps']);
    expect((await agents[1].exchange()).messages).toEqual([]);
  });
});
