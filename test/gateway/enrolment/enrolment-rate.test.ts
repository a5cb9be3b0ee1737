import { afterAll, beforeAll, expect, it } from 'vitest';
import { type BObject, encode } from '../../../src/protocol/bpickle.ts';
import { anAccount, createGatewayWorld, type GatewayWorld } from '../../support/agents/gateway-world.ts';
import { type ExchangeResponse, ping, post, RawAgent } from '../../support/agents/raw-agent.ts';

let world: GatewayWorld;

beforeAll(async () => {
  world = await createGatewayWorld({
    env: {
      FLOTILLA_TRUSTED_PROXIES: '127.0.0.1',
      FLOTILLA_ENROLMENT_RATE_LIMIT: '1',
      FLOTILLA_ENROLMENT_RATE_BURST: '3',
    },
  });
});
afterAll(() => world.close());

let serial = 0;

function registerFrom(
  address: string,
  account: { name: string },
  fields: Record<string, string> = {},
): Promise<ExchangeResponse> {
  return post(world, { messages: [registration(account, fields)] }, { 'X-Forwarded-For': address });
}

function registration(account: { name: string }, fields: Record<string, string> = {}): BObject {
  const title = `web-${++serial}`;
  return { type: 'register', computer_title: title, hostname: title, account_name: account.name, ...fields };
}

async function registered(account: { id: number }): Promise<number> {
  const [row] = await world.db.query<{ n: number }>('select count(*) as n from computer where account_id = $1', [
    account.id,
  ]);
  return row!.n;
}

it('takes n registrations from one address, rejects the next and stores nothing of it', async () => {
  const account = await anAccount(world.db);
  const agent = await RawAgent.enrol(world, await anAccount(world.db));
  const statuses: number[] = [];
  for (let i = 0; i < 5; i++) statuses.push((await registerFrom('192.0.2.1', account)).status);
  expect(statuses).toEqual([200, 200, 200, 429, 429]);
  expect(await registered(account)).toBe(3);
  const invited = await post(world, { messages: [] }, { 'X-Forwarded-For': '192.0.2.1' });
  expect(invited.types).toEqual(['accepted-types']);
  const headers = { 'X-Forwarded-For': '192.0.2.1', 'X-Computer-ID': agent.secureId };
  expect((await post(world, agent.payload(), headers)).status).toBe(200);
  expect(await ping(world, agent.id)).not.toBeNull();
  world.clock.advance(1000);
  expect((await registerFrom('192.0.2.1', account)).types).toEqual(['set-id']);
  expect((await registerFrom('192.0.2.1', account)).status).toBe(429);
});

it('takes n registrations of one account from anywhere, and other accounts beside them', async () => {
  const account = await anAccount(world.db, { registrationKey: 'sesame' });
  const statuses: number[] = [];
  for (let i = 0; i < 5; i++) {
    statuses.push((await registerFrom(`198.51.100.${i}`, account, { registration_password: 'sesame' })).status);
  }
  expect(statuses).toEqual([200, 200, 200, 429, 429]);
  expect(await registered(account)).toBe(3);
  expect((await registerFrom('198.51.100.8', await anAccount(world.db))).types).toEqual(['set-id']);
});

it('does not count registrations with a wrong key against the account', async () => {
  const account = await anAccount(world.db, { registrationKey: 'sesame' });
  for (let i = 0; i < 5; i++) await registerFrom(`203.0.113.${i}`, account, { registration_password: 'wrong' });
  const good = await registerFrom('203.0.113.9', account, { registration_password: 'sesame' });
  expect(good.types).toEqual(['set-id']);
});

it('returns in whole seconds when to retry', async () => {
  const account = await anAccount(world.db);
  const send = () =>
    fetch(`${world.url}/message-system`, {
      method: 'POST',
      headers: { 'X-Message-API': '3.3', 'X-Forwarded-For': '2001:db8::5' },
      body: new Uint8Array(encode({ messages: [registration(account)] })),
    });
  const responses: Response[] = [];
  for (let i = 0; i < 4; i++) responses.push(await send());
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
  const rejected = responses.at(-1)!;
  expect(rejected.headers.get('retry-after')).toBe('1');
  expect(await rejected.json()).toEqual({ error: 'TooManyRequests', message: 'Too many registrations', code: 429 });
});
