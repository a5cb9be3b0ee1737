import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGroup, createMember } from '../../../tools/harness/accounts.ts';
import { createServedFleet, ping, RawAgent, type ServedFleet } from '../../support/agents/raw-agent.ts';

let served: ServedFleet;
let scoped: string;

beforeAll(async () => {
  served = await createServedFleet();
  scoped = await loginLimitedTo('servers');
});
afterAll(() => served?.close());

/** Creates an access group and a person who sees nothing else. */
async function loginLimitedTo(group: string): Promise<string> {
  await createGroup(served.db, served.accountId, group);
  const member = { accountId: served.accountId, email: `${group}@fleet.example`, role: 'ServerAdmin' };
  return served.app.login(await createMember(served.db, { ...member, groups: [group] }));
}

const call = (method: string, path: string, body?: object, token = served.token) =>
  served.app.call(method, path, { token, ...(body ? { body } : {}) });
const titleOf = async (agent: RawAgent) => (await call('GET', `/computers/${agent.id}`)).body.title as string;
const archive = async (agent: RawAgent) =>
  call('POST', `/computers/${agent.id}/archive`, { computer_title: await titleOf(agent) });
const remove = (...agents: RawAgent[]) =>
  call('POST', '/computers:delete', { computer_ids: agents.map(({ id }) => id) });
const read = async (activity: number, token = served.token) =>
  (await call('GET', `/activities/${activity}`, undefined, token)).body;
const cancelCommands = () => served.db.query(`select key from outbox where kind = 'cancel' order by id`);

/** Every column of the database that can name a computer. */
async function rowsOf(computer: number): Promise<string[]> {
  const columns = await served.db.query<{ table_name: string; column_name: string }>(
    `select c.table_name, c.column_name from information_schema.columns c join information_schema.tables t using (table_name)
     where c.table_schema = 'public' and t.table_schema = 'public' and t.table_type = 'BASE TABLE' and (c.column_name = 'computer_id'
       or (c.table_name, c.column_name) in (('computer', 'id'), ('computer', 'parent_id'), ('computer', 'clone_id')))`,
  );
  const found: string[] = [];
  for (const { table_name, column_name } of columns) {
    const rows = await served.db.query(`select from "${table_name}" where "${column_name}" = $1`, [computer]);
    if (rows.length > 0) found.push(`${table_name}.${column_name}`);
  }
  return found.sort();
}

/** Everything that a computer can have from agents and administrators. */
async function furnish({ id }: RawAgent): Promise<void> {
  const { db, accountId } = served;
  await db.query(
    `with key as (insert into computer_recovery_key (computer_id, activity_id, key_id, sealed, created_at)
       values ($1, 1, 'test', '\\x00', now())),
     profile as (insert into profile (account_id, type, id, name, title) values ($2, 'package', $1, 'p-' || $1, 'P')),
     network as (insert into computer_network values ($1, 'eth0', '10.0.0.1', '', '', '', 0, true)),
     hardware as (insert into computer_hardware values ($1, '<node/>', now()))
     insert into computer_user (computer_id, username, enabled) values ($1, 'root', true)`,
    [id, accountId],
  );
  await db.query(
    `insert into computer_profile (account_id, type, profile_id, computer_id) values ($2, 'package', $1, $1)`,
    [id, accountId],
  );
}

describe('POST /computers/<id>/archive', () => {
  it('returns an activity that ends by itself, without a message to the computer', async () => {
    const [agent] = (await served.enrol(1)) as [RawAgent];
    const title = await titleOf(agent);
    const wrong = await call('POST', `/computers/${agent.id}/archive`, { computer_title: `${title} ` });
    expect(wrong.body).toMatchObject({ error: 'InvalidParameter', details: [{ path: 'body.computer_title' }] });
    const { status, body } = await archive(agent);
    expect(status).toBe(200);
    expect(body).toMatchObject({ type: 'ActivityGroup', summary: 'Archive computer', activity_status: 'undelivered' });
    await served.processEvents();
    const [child] = (await read(body.id)).children;
    expect(await read(body.id)).toMatchObject({ activity_status: 'succeeded', result_text: null });
    expect(child).toMatchObject({
      type: 'ArchiveComputerRequest',
      activity_status: 'succeeded',
      result_text: 'The computer was archived.',
    });
    expect(await served.db.query('select from agent_message where activity_id = $1', [child.id])).toEqual([]);
    const again = await archive(agent);
    expect([again.status, again.body.id, again.body.activity_status]).toEqual([200, body.id, 'succeeded']);
  });

  it('ends what is open, withdraws what waits, and leaves parents with true counts', async () => {
    const [leaving, staying] = (await served.enrol(2)) as [RawAgent, RawAgent];
    await furnish(leaving);
    const delivered = await served.install([leaving, staying], 'first');
    await served.processEvents();
    expect((await leaving.exchange()).types).toEqual(['install-snaps']);
    const waiting = await served.install([leaving, staying], 'second');
    await served.processEvents();
    const alone = await served.install([leaving], 'third');
    const before = (await cancelCommands()).length;
    const archiving = (await archive(leaving)).body.id;
    await served.processEvents();
    for (const group of [delivered, waiting, alone]) {
      const mine = (await read(group)).children[0];
      expect(mine).toMatchObject({ activity_status: 'canceled', result_text: 'The computer was archived.' });
    }
    expect((await read(alone)).activity_status).toBe('canceled');
    const parents = (await call('GET', '/activities/parents')).body.results;
    const counts = (id: number) => parents.find((parent: { id: number }) => parent.id === id).children_statuses;
    expect(counts(delivered)).toEqual({ good: 0, warning: 1, bad: 1 });
    expect(counts(archiving)).toEqual({ good: 1, warning: 0, bad: 0 });
    // Batches with only this computer have nothing else to do: their workflows are canceled.
    expect((await cancelCommands()).length - before).toBe(3);
    const states = await served.db.query<{ state: string }>(
      `select distinct state from agent_message where computer_id = $1 and state in ('held', 'queued')`,
      [leaving.id],
    );
    expect(states).toEqual([]);
    expect((await staying.exchange()).types).toEqual(['install-snaps', 'install-snaps']);
  });

  it('leaves a computer that can be read and nothing else', async () => {
    const [agent] = (await served.enrol(1)) as [RawAgent];
    await furnish(agent);
    await archive(agent);
    expect((await call('GET', `/computers/${agent.id}`)).body).toMatchObject({ id: agent.id, archived: true });
    const listed = async (query: string) =>
      (await call('GET', `/computers${query}`)).body.results.map((computer: { id: number }) => computer.id);
    expect(await listed('')).not.toContain(agent.id);
    expect(await listed('?archived_only=true')).toContain(agent.id);
    const snaps = { action: 'install', computer_ids: [agent.id], snaps: [{ name: 'hello' }] };
    expect((await call('POST', '/snaps', snaps)).body).toMatchObject({ error: 'ComputerArchived', code: 400 });
    const body = { computer_title: await titleOf(agent) };
    expect((await call('POST', `/computers/${agent.id}/sanitize`, body)).body.error).toBe('ComputerArchived');
    const left = await rowsOf(agent.id);
    expect(left).toEqual(
      expect.arrayContaining(['computer.id', 'computer_hardware.computer_id', 'activity.computer_id']),
    );
    for (const removed of ['agent', 'agent_identity', 'computer_recovery_key', 'computer_profile']) {
      expect(left).not.toContain(`${removed}.computer_id`);
    }
  });

  it('makes the agent unknown, whose machine enrols as a new computer', async () => {
    const [agent] = (await served.enrol(1)) as [RawAgent];
    const group = await served.install([agent]);
    await served.processEvents();
    const [message] = (await agent.exchange()).messages;
    await archive(agent);
    expect(await ping(served, agent.id)).toEqual({});
    const result = {
      type: 'operation-result',
      status: 6,
      'operation-id': message!['operation-id']!,
      'result-text': '',
    };
    expect((await agent.exchange([result])).types).toEqual(['unknown-id', 'accepted-types']);
    await served.processEvents();
    expect((await read(group)).activity_status).toBe('canceled');
    expect((await RawAgent.enrol(served, { name: 'standalone' })).id).toBeGreaterThan(agent.id);
  });

  it('hands the default instance of a host on and unties the family', async () => {
    const enrol = (title: string, fields = {}) =>
      RawAgent.enrol(
        served,
        { name: 'standalone' },
        { computer_title: title, hostname: title, hostagent_uid: 'u', ...fields },
      );
    const host = await enrol('host');
    const [first, second] = [
      await enrol('a', { 'container-info': 'wsl' }),
      await enrol('b', { 'container-info': 'wsl' }),
    ];
    await archive(first);
    const family = (await call('GET', `/computers/${host.id}`)).body;
    expect(family).toMatchObject({ default_child: { id: second.id }, num_child: 1 });
    expect((await call('GET', `/computers/${first.id}`)).body).toMatchObject({ parent: null, is_default_child: false });
    await archive(host);
    expect((await call('GET', `/computers/${second.id}`)).body).toMatchObject({ parent: null, is_wsl_instance: true });
    // Also without the host: the next one finds a default instance.
    const third = await enrol('c', { 'container-info': 'wsl' });
    await archive(second);
    const next = await enrol('next-host');
    expect((await call('GET', `/computers/${next.id}`)).body).toMatchObject({ default_child: { id: third.id } });
  });
});

describe('POST /computers/<id>/sanitize', () => {
  it('has the computer erase its keys', async () => {
    const [agent] = (await served.enrol(1)) as [RawAgent];
    const { body } = await call('POST', `/computers/${agent.id}/sanitize`, { computer_title: await titleOf(agent) });
    expect(body).toMatchObject({ type: 'ActivityGroup', summary: 'Sanitize computer', activity_status: 'undelivered' });
    await served.processEvents();
    const [message] = (await agent.exchange()).messages;
    expect(message).toMatchObject({ type: 'execute-script', username: 'root', attachments: {} });
    expect(message!['code']).toContain('luksErase');
    expect((await read(body.id)).actions).toMatchObject({ reappliable: false, revertable: false });
  });
});

describe('POST /computers:delete', () => {
  it('removes every row of a computer but its activities, archived or not', async () => {
    const agents = await served.enrol(2);
    const [live, archived] = agents as [RawAgent, RawAgent];
    for (const agent of agents) await furnish(agent);
    const group = await served.install([live]);
    await served.processEvents();
    await live.exchange();
    await archive(archived);
    const response = await remove(live, archived, live);
    expect([response.status, response.text]).toEqual([204, '']);
    await served.processEvents();
    for (const agent of agents) {
      expect(await rowsOf(agent.id)).toEqual(['activity.computer_id', 'cloud_event.computer_id']);
      expect((await call('GET', `/computers/${agent.id}`)).body.error).toBe('UnknownComputer');
      expect(await ping(served, agent.id)).toEqual({});
      expect((await agent.exchange()).types).toEqual(['unknown-id', 'accepted-types']);
    }
    expect(await read(group)).toMatchObject({
      activity_status: 'canceled',
      children: [{ activity_status: 'canceled', result_text: 'The computer was removed.' }],
    });
  });

  it('keeps activities readable for those who saw the access group, and no others', async () => {
    const [agent, other] = (await served.enrol(2)) as [RawAgent, RawAgent];
    await call('PUT', `/computers/${agent.id}`, { access_group: 'servers' });
    const [mine, theirs] = [await served.install([agent]), await served.install([other])];
    await remove(agent, other);
    await served.processEvents();
    expect(await read(mine, scoped)).toMatchObject({ id: mine, children: [{ activity_status: 'canceled' }] });
    expect((await read(theirs, scoped)).error).toBe('UnknownActivity');
    await call('DELETE', '/access-groups/servers');
    expect((await read(mine)).id).toBe(mine);
  });

  it('BATCH-mixed: one computer that may not be removed keeps all', async () => {
    const agents = await served.enrol(2);
    const ids = agents.map(({ id }) => id);
    for (const bad of [2_000_000_000, 0]) {
      const response = await call('POST', '/computers:delete', { computer_ids: [...ids, bad] });
      expect(response.body.error).toBe(bad === 0 ? 'InvalidParameter' : 'UnknownComputer');
    }
    const many = Array.from({ length: 1001 }, (_, n) => n + 1);
    expect((await call('POST', '/computers:delete', { computer_ids: many })).body.error).toBe('InvalidParameter');
    for (const agent of agents) expect((await agent.exchange()).status).toBe(200);
  });

  it('leaves nothing of results and requests that come at the same moment', async () => {
    const agents = await served.enrol(6);
    const group = await served.install(agents);
    await served.processEvents();
    const outcomes = await Promise.all([
      ...agents.map((agent) => agent.exchange()),
      remove(...agents),
      served.app.call('POST', '/snaps', {
        token: served.token,
        body: { action: 'install', computer_ids: agents.map(({ id }) => id), snaps: [{ name: 'late' }] },
      }),
    ]);
    expect(outcomes.map(({ status }) => status).filter((status) => ![200, 204, 404].includes(status))).toEqual([]);
    await served.processEvents();
    for (const agent of agents)
      expect(await rowsOf(agent.id)).toEqual(['activity.computer_id', 'cloud_event.computer_id']);
    const [open] = await served.db.query<{ count: number }>(
      `select count(*)::int as count from activity where computer_id = any($1) and status not in ('canceled', 'succeeded', 'failed')`,
      [agents.map(({ id }) => id)],
    );
    expect(open!.count).toBe(0);
    expect((await read(group)).activity_status).toBe('canceled');
  });
});
