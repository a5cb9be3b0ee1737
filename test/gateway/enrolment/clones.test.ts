import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BValue } from '../../../src/protocol/bpickle.ts';
import { anAccount, createGatewayWorld, type GatewayWorld } from '../../support/agents/gateway-world.ts';
import { post, RawAgent } from '../../support/agents/raw-agent.ts';

let world: GatewayWorld;
let registrations = 0;

beforeAll(async () => {
  world = await createGatewayWorld();
});
afterAll(() => world?.close());

interface Image {
  account: { name: string };
  names: Record<string, BValue>;
}

/** A machine whose agent is given identities and loses them; each step is one exchange. */
class Machine {
  agent: RawAgent | null;
  readonly #image: Image;
  readonly #nth: number;
  #former: string | null = null;
  /** Whether the agent names its original, as agents do that got its title. */
  readonly #namesOriginal: boolean;

  constructor(image: Image, nth: number, agent: RawAgent | null, namesOriginal: boolean) {
    this.#image = image;
    this.#nth = nth;
    this.agent = agent;
    this.#namesOriginal = namesOriginal;
  }

  async step(): Promise<void> {
    if (this.agent) {
      const response = await this.agent.exchange([{ type: 'computer-info', 'total-memory': 1000 + this.#nth }]);
      const sentAway = response.messages.find(({ type }) => type === 'unknown-id');
      if (!sentAway) return;
      this.#former = sentAway['clone-of'] === undefined || !this.#namesOriginal ? null : this.agent.secureId;
      this.agent = null;
      return;
    }
    const { account, names } = this.#image;
    this.agent = await RawAgent.enrol(world, account, {
      ...names,
      // The clocks of those that name their original are behind.
      timestamp: this.#namesOriginal ? 1_800_000_000 - this.#nth : 1_800_000_000 + ++registrations,
      ...(this.#former === null ? {} : { clone_secure_id: this.#former }),
    });
  }
}

async function memories(accountId: number) {
  return world.db.query<{ id: number; total_memory: number | null; clone_id: number | null }>(
    'select id, total_memory, clone_id from computer where account_id = $1 order by id',
    [accountId],
  );
}

const COPIES = 8;
const order = (round: number, n: number) => (round % 2 === 0 ? n : COPIES - 1 - n);

describe.each([
  ['one after another', false],
  ['at once', true],
])('eight clones with one name, %s', (_, atOnce) => {
  const rounds = async (machines: Machine[], count: number) => {
    for (let round = 0; round < count; round++) {
      if (atOnce) await Promise.all(machines.map((machine) => machine.step()));
      else for (let n = 0; n < machines.length; n++) await machines[order(round, n)]!.step();
    }
  };
  const expectApart = async (machines: Machine[], accountId: number, own: number) => {
    const ids = machines.map(({ agent }) => agent?.id);
    expect(new Set(ids)).toHaveLength(COPIES);
    await rounds(machines, 1);
    expect(machines.map(({ agent }) => agent?.id)).toEqual(ids);
    const rows = await memories(accountId);
    expect(rows).toHaveLength(own);
    expect(rows.map((row) => row.total_memory).sort()).toEqual(machines.map((_machine, n) => 1000 + n));
    return rows;
  };

  it.each([
    ['that share an identity and name it', true],
    ['that share an identity and do not name it', false],
  ])('%s have a computer each after three exchanges', async (_what, namesOriginal) => {
    const account = await anAccount(world.db);
    const image = { account, names: { computer_title: 'golden', hostname: 'golden', machine_id: 'm' } };
    const original = await RawAgent.enrol(world, account, { ...image.names, timestamp: 1_800_000_000 });
    await original.exchange();
    await original.exchange();
    const machines = Array.from({ length: COPIES }, (_machine, n) => {
      const copy = Object.assign(new RawAgent(world, original.id, original.secureId), { ...original });
      return new Machine(image, n, copy, namesOriginal);
    });
    await rounds(machines, 3);
    const rows = await expectApart(machines, account.id, COPIES);
    const copies = rows.filter(({ clone_id }) => clone_id !== null);
    expect(copies.map(({ clone_id }) => clone_id)).toEqual(Array(COPIES - 1).fill(original.id));
  });

  it.each([
    ['that never had an identity and name the original', true],
    ['that never had an identity and do not name the original', false],
  ])('%s have a computer each after three exchanges', async (_what, namesOriginal) => {
    const account = await anAccount(world.db);
    const image = { account, names: { computer_title: 'twin', hostname: 'twin' } };
    const machines = Array.from({ length: COPIES }, (_machine, n) => new Machine(image, n, null, namesOriginal));
    await rounds(machines, 3);
    await expectApart(machines, account.id, COPIES);
  });

  it('that wait for acceptance have an entry each after three exchanges', async () => {
    const account = await anAccount(world.db, { autoRegister: false });
    const image = { account, names: { computer_title: 'new', hostname: 'new', machine_id: 'm' } };
    const machines = Array.from({ length: COPIES }, (_machine, n) => new Machine(image, n, null, true));
    await rounds(machines, 3);
    expect(new Set(machines.map(({ agent }) => agent?.id))).toHaveLength(COPIES);
    expect(await memories(account.id)).toHaveLength(COPIES);
  });
});

describe('a registration that is repeated', () => {
  it('by a copy whose response was lost finds the computer of the first one', async () => {
    const account = await anAccount(world.db);
    const names = { computer_title: 'twin', hostname: 'twin' };
    const [first, second] = [await RawAgent.enrol(world, account, names), await RawAgent.enrol(world, account, names)];
    await first.exchange();
    for (let i = 0; i < 3; i++) {
      const { messages } = await second.send();
      expect(messages).toEqual([
        { type: 'unknown-id', 'clone-of': 'twin' },
        { type: 'accepted-types', types: ['register'] },
      ]);
    }
    const again = { ...names, clone_secure_id: second.secureId };
    const ids = await Promise.all([1, 2, 3].map(async () => (await RawAgent.enrol(world, account, again)).id));
    expect(new Set(ids)).toHaveLength(1);
    expect(await memories(account.id)).toMatchObject([{ clone_id: null }, { id: ids[0], clone_id: first.id }]);
  });

  it('an hour later is that of one machine again', async () => {
    const account = await anAccount(world.db);
    const names = { computer_title: 'old', hostname: 'old' };
    const first = await RawAgent.enrol(world, account, names);
    const second = await RawAgent.enrol(world, account, names);
    await first.exchange();
    await second.exchange();
    world.clock.advance(3_600_001);
    const ids = [await RawAgent.enrol(world, account, names), await RawAgent.enrol(world, account, names)];
    expect(ids[0]!.id).toBe(ids[1]!.id);
  });

  it('ignores an identity of another account', async () => {
    const [one, other] = [await anAccount(world.db), await anAccount(world.db)];
    const names = { computer_title: 'x', hostname: 'x' };
    const first = await RawAgent.enrol(world, one, names);
    const second = await RawAgent.enrol(world, one, names);
    await first.exchange();
    await second.exchange();
    const foreign = await RawAgent.enrol(world, other, { ...names, clone_secure_id: second.secureId });
    expect(await memories(other.id)).toMatchObject([{ id: foreign.id, clone_id: null }]);
  });
});

describe('a machine whose clock is behind its previous registration', () => {
  const events = (accountId: number) =>
    world.db.query<{ entity_type: string; entity_id: number; entity_name: string; message: string }>(
      'select entity_type, entity_id, entity_name, message from event where account_id = $1 order by id',
      [accountId],
    );

  it('reads why in the events of that computer, and is accepted when its clock has passed it', async () => {
    const account = await anAccount(world.db);
    const names = { computer_title: 'restored', hostname: 'restored' };
    const at = Date.UTC(2026, 10, 25, 12) / 1000;
    const before = await RawAgent.enrol(world, account, { ...names, timestamp: at });
    await before.exchange();
    const send = (timestamp: number) =>
      post(world, { messages: [{ type: 'register', account_name: account.name, ...names, timestamp }] });
    for (const behind of [1200, 600]) expect((await send(at - behind)).types).toEqual(['accepted-types']);
    expect(await events(account.id)).toEqual([
      {
        entity_type: 'Computer',
        entity_id: before.id,
        entity_name: 'restored',
        message: expect.stringMatching(
          /not accepted.*2026-11-25T11:40:00Z.*2026-11-25T12:00:00Z\. Check the clock of the machine/,
        ),
      },
    ]);
    world.clock.advance(86_400_001);
    await send(at - 30);
    expect(await events(account.id)).toHaveLength(2);
    expect((await send(at + 1)).types).toEqual(['set-id']);
  });
});
