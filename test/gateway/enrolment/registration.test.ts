import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EVERYTHING, REGISTER_ONLY } from '../../../src/gateway/http/message-types.ts';
import type { BValue } from '../../../src/protocol/bpickle.ts';
import { anAccount, anOperation, createGatewayWorld, type GatewayWorld } from '../../support/agents/gateway-world.ts';
import { ping, post, RawAgent, register } from '../../support/agents/raw-agent.ts';

let world: GatewayWorld;

beforeAll(async () => {
  world = await createGatewayWorld();
});
afterAll(() => world.close());

interface ComputerRow {
  id: number;
  state: string;
  title: string;
  tags: string[];
  clone_id: number | null;
  registered_at: Date | null;
  vm_info: string;
  container_info: string;
  access_group: string;
}

async function computers(accountId: number): Promise<ComputerRow[]> {
  return world.db.query<ComputerRow>(
    `select c.*, g.name as access_group from computer c join access_group g on g.id = c.access_group_id
     where c.account_id = $1 order by c.id`,
    [accountId],
  );
}

describe('first contact', () => {
  it('invites an agent without an identity to register, ignoring leftovers', async () => {
    const response = await post(world, { messages: [{ type: 'computer-info', hostname: 'x' }], sequence: 4 });
    expect(response.messages).toEqual([{ type: 'accepted-types', types: ['register'] }]);
    expect(Object.keys(response.body).sort()).toEqual(['messages', 'server-api', 'server-uuid']);
  });

  it('reports the same server uuid every time', async () => {
    const [first, second] = [await post(world, { messages: [] }), await post(world, { messages: [] })];
    expect(first.body['server-uuid']).toEqual(second.body['server-uuid']);
  });
});

describe('registration', () => {
  it('approves at once with the right key, stores only a hash of the identity', async () => {
    const account = await anAccount(world.db, { registrationKey: 'let-me-in' });
    const response = await register(world, {
      account_name: account.name,
      registration_password: 'let-me-in',
      tags: 'web, staging,büro_2,not a tag,-bad',
      access_group: 'nowhere',
      'vm-info': Buffer.from('kvm'),
      'container-info': '',
      ubuntu_pro_info: '{"attached": true}',
    });
    expect(response).toMatchObject({ type: 'set-id', 'insecure-id': expect.any(Number) });
    expect(response['id']).toBeInstanceOf(Uint8Array);
    const [computer] = await computers(account.id);
    expect(computer).toMatchObject({
      id: response['insecure-id'],
      state: 'approved',
      title: 'web-1',
      tags: ['web', 'staging', 'büro_2'],
      vm_info: 'kvm',
      container_info: '',
      access_group: 'global',
      distro_pro_info: { attached: true },
    });
    expect(computer!.registered_at).toEqual(world.clock.now());
    const stored = await world.db.query(`select encode(secure_id_hash, 'escape') as hash from agent_identity`);
    expect(JSON.stringify(stored)).not.toContain(Buffer.from(response['id'] as Buffer).toString());
  });

  it('takes a computer into the access group it requests', async () => {
    const account = await anAccount(world.db);
    await world.db.query(`insert into access_group (account_id, name, title) values ($1, 'web', 'Web servers')`, [
      account.id,
    ]);
    await register(world, { account_name: account.name, access_group: 'web', computer_title: 'one' });
    await register(world, { account_name: account.name, access_group: 'Web servers', computer_title: 'two' });
    expect((await computers(account.id)).map((computer) => computer.access_group)).toEqual(['web', 'web']);
  });

  it('rejects a wrong key, an unknown account, a disabled account and malformed registrations', async () => {
    const account = await anAccount(world.db, { registrationKey: 'right' });
    const disabled = await anAccount(world.db);
    await world.db.query('update account set disabled = true where id = $1', [disabled.id]);
    const rejected: Array<Record<string, BValue>> = [
      { account_name: account.name, registration_password: 'wrong' },
      { account_name: account.name, registration_password: null },
      { account_name: account.name },
      { account_name: 'nobody' },
      { account_name: disabled.name },
      { account_name: 7 },
      { account_name: account.name, registration_password: 'right', computer_title: null },
      { account_name: account.name, registration_password: 'right', computer_title: 7 },
    ];
    for (const fields of rejected) {
      expect(await register(world, fields)).toEqual({ type: 'registration', info: 'unknown-account' });
    }
    expect(await computers(account.id)).toEqual([]);
  });

  it('enrols a computer whatever else it reports', async () => {
    const account = await anAccount(world.db);
    const agent = await RawAgent.enrol(world, account, {
      computer_title: 't'.repeat(300),
      hostname: 'h'.repeat(300),
      tags: 'x'.repeat(100_001),
      access_group: 7,
      'vm-info': 'v'.repeat(300),
      'container-info': [],
      machine_id: 'm'.repeat(300),
      ubuntu_pro_info: `${'['.repeat(100)}${']'.repeat(100)}`,
      clone_secure_id: 'c'.repeat(300),
      hostagent_uid: 7,
      'juju-info': 'none',
    });
    expect((await computers(account.id))[0]).toMatchObject({
      id: agent.id,
      title: `${'t'.repeat(254)}…`,
      hostname: `${'h'.repeat(254)}…`,
      tags: [],
      access_group: 'global',
      vm_info: `${'v'.repeat(254)}…`,
      container_info: '',
      machine_id: null,
      distro_pro_info: null,
    });
    const messages = await world.db.query(
      `select message from event where entity_type = 'Computer' and entity_id = $1 and message like '%register%'`,
      [agent.id],
    );
    expect(messages.map(({ message }) => message)).toEqual(
      expect.arrayContaining([
        "Text in the computer's report register was cut: computer_title is longer than 255 characters",
        "A part of the computer's report register was left out: machine_id is longer than 255 characters",
        "A part of the computer's report register was left out: access_group must be text",
      ]),
    );
  });

  it('keeps NUL characters and lone surrogates out of the database', async () => {
    const account = await anAccount(world.db);
    await register(world, { account_name: `${account.name}\0`, computer_title: 'we\0b', hostname: 'h\0' });
    expect((await computers(account.id))[0]!.title).toBe('web');
  });

  it('makes one line of a title, whose characters count as people count them', async () => {
    const account = await anAccount(world.db);
    const titleOf = async (title: string) => {
      const { id } = await RawAgent.enrol(world, account, { computer_title: title });
      return (await world.db.query('select title from computer where id = $1', [id]))[0]!['title'];
    };
    expect(await titleOf('x\ny\t\u001b[31m\u2028z ')).toBe('x y [31m z');
    expect(await titleOf('😀'.repeat(255))).toBe('😀'.repeat(255));
  });

  it('finds the computer of a registration whose response was lost', async () => {
    const account = await anAccount(world.db);
    const responses = await Promise.all(
      Array.from({ length: 5 }, () => register(world, { account_name: account.name })),
    );
    expect(new Set(responses.map((response) => response['insecure-id']))).toHaveLength(1);
    expect(await computers(account.id)).toHaveLength(1);
  });

  it('AGENT-forge: gives twins a computer each, whoever is first', async () => {
    const account = await anAccount(world.db);
    const names = { computer_title: 'twin', hostname: 'twin' };
    const first = await RawAgent.enrol(world, account, names);
    const second = await RawAgent.enrol(world, account, names);
    expect(second.id).toBe(first.id);
    expect((await first.exchange()).status).toBe(200);
    expect((await second.exchange()).types).toEqual(['unknown-id', 'accepted-types']);
    const again = await RawAgent.enrol(world, account, names);
    expect(again.id).not.toBe(first.id);
    expect((await again.exchange()).nextExpected).toBe(0);
    expect((await first.exchange()).nextExpected).toBe(0);
  });

  it('AGENT-old: a registration that comes late enrols nobody, and a later one of an equal machine does', async () => {
    const account = await anAccount(world.db);
    const at = Math.floor(Date.now() / 1000);
    const names = { computer_title: 'late', hostname: 'late' };
    const honest = await RawAgent.enrol(world, account, { ...names, timestamp: at });
    await honest.exchange();
    const send = (fields: Record<string, BValue>) =>
      register(world, { account_name: account.name, ...names, ...fields });
    for (const timestamp of [at, at - 30]) expect(await send({ timestamp })).toMatchObject({ types: ['register'] });
    expect(await computers(account.id)).toHaveLength(1);
    expect((await honest.exchange()).types).toEqual([]);
    const others: Record<string, BValue>[] = [
      { timestamp: at + 60 },
      { timestamp: at - 86_400 },
      { timestamp: at, clone_secure_id: honest.secureId },
    ];
    for (const [i, fields] of others.entries()) {
      const { type, id } = await send(fields);
      expect(type).toBe('set-id');
      await new RawAgent(world, 0, Buffer.from(id as Buffer).toString()).exchange();
      expect(await computers(account.id)).toHaveLength(i + 2);
    }
  });

  it('AGENT-forge: flags a copy by its former identity and by its machine id, merging neither', async () => {
    const account = await anAccount(world.db);
    const original = await RawAgent.enrol(world, account, { machine_id: 'm-1' });
    await original.exchange();
    const copy = await RawAgent.enrol(world, account, { clone_secure_id: original.secureId });
    const twin = await RawAgent.enrol(world, account, { machine_id: 'm-1' });
    const third = await RawAgent.enrol(world, account);
    await third.exchange();
    await third.exchange([{ type: 'computer-info', 'machine-id': 'm-1' }]);
    const rows = await computers(account.id);
    expect(rows.map((row) => row.clone_id)).toEqual([null, original.id, original.id, original.id]);
    expect(rows.map((row) => row.id)).toEqual([original.id, copy.id, twin.id, third.id]);
  });

  it('AGENT-forge: gives a copy of a pending computer an entry of its own', async () => {
    const account = await anAccount(world.db);
    await world.db.query('update account set auto_register = false where id = $1', [account.id]);
    const original = await RawAgent.enrol(world, account, { machine_id: 'm-3' });
    await original.exchange();
    const copy = await RawAgent.enrol(world, account, { machine_id: 'm-3', clone_secure_id: original.secureId });
    await copy.exchange();
    const rows = await computers(account.id);
    expect(rows).toMatchObject([
      { id: original.id, state: 'pending', clone_id: null },
      { id: copy.id, state: 'pending', clone_id: original.id },
    ]);
    expect((await original.exchange()).types).not.toContain('unknown-id');
  });

  it("does not flag a clone of another account's computer", async () => {
    const [one, other] = [await anAccount(world.db), await anAccount(world.db)];
    const original = await RawAgent.enrol(world, one, { machine_id: 'm-2' });
    await original.exchange();
    await RawAgent.enrol(world, other, { machine_id: 'm-2', clone_secure_id: original.secureId });
    expect((await computers(other.id))[0]!.clone_id).toBeNull();
  });
});

describe('pending computers', () => {
  it('stay silent and get nothing until they are approved', async () => {
    const account = await anAccount(world.db, { autoRegister: false });
    const agent = await RawAgent.enrol(world, account);
    agent.typesDigest = REGISTER_ONLY.digest;
    await anOperation(world.db, agent.id);
    expect((await computers(account.id))[0]).toMatchObject({ state: 'pending', registered_at: null });
    const silent = await agent.exchange([{ type: 'computer-tags', tags: 'never' }]);
    expect(silent.types).toEqual([]);
    expect(silent.nextExpected).toBe(1);
    expect(await ping(world, agent.id)).toEqual({ messages: false });
    expect((await computers(account.id))[0]!.tags).toEqual([]);
    await world.db.query(`update computer set state = 'approved' where id = $1`, [agent.id]);
    expect(await ping(world, agent.id)).toEqual({ messages: true });
    const approved = await agent.exchange();
    expect(approved.types).toEqual(['accepted-types']);
    expect(approved.messages[0]!['types']).toEqual(EVERYTHING.types);
    agent.typesDigest = EVERYTHING.digest;
    expect((await agent.exchange()).types).toEqual(['install-snaps']);
  });

  it('learn that only registering is wanted when they believe otherwise', async () => {
    const account = await anAccount(world.db, { autoRegister: false });
    const agent = await RawAgent.enrol(world, account);
    const response = await agent.exchange();
    expect(response.messages).toEqual([{ type: 'accepted-types', types: ['register'] }]);
    agent.typesDigest = REGISTER_ONLY.digest;
    expect((await agent.exchange()).types).toEqual([]);
  });

  it('are replaced by a new registration of the same machine', async () => {
    const account = await anAccount(world.db, { autoRegister: false });
    const names = { computer_title: 'same', hostname: 'same', machine_id: 'm-3' };
    const first = await RawAgent.enrol(world, account, names);
    await first.exchange();
    const second = await RawAgent.enrol(world, account, names);
    second.sequence = 75;
    expect(second.id).toBe(first.id);
    expect((await second.exchange()).nextExpected).toBe(75);
    expect((await first.exchange()).types[0]).toBe('unknown-id');
  });

  it('are rejected beyond the bound of the account, also all at once', async () => {
    const account = await anAccount(world.db, { autoRegister: false, maxPending: 3 });
    const responses = await Promise.all(
      Array.from({ length: 8 }, (_, i) => register(world, { account_name: account.name, computer_title: `c${i}` })),
    );
    const rejected = responses.filter((response) => response['type'] === 'registration');
    expect(rejected).toHaveLength(5);
    expect(rejected[0]).toEqual({ type: 'registration', info: 'max-pending-computers' });
    expect(await computers(account.id)).toHaveLength(3);
  });
});
