import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGroup, createMember } from '../../../tools/harness/accounts.ts';
import { createServedFleet, type RawAgent, type ServedFleet } from '../../support/agents/raw-agent.ts';

let served: ServedFleet;

beforeAll(async () => {
  served = await createServedFleet();
});
afterAll(() => served?.close());

const call = async (path: string, token = served.token) => (await served.app.call('GET', path, { token })).body;

async function loginLimitedTo(group: string): Promise<string> {
  await createGroup(served.db, served.accountId, group);
  const member = { accountId: served.accountId, email: `${group}@fleet.example`, role: 'ServerAdmin' };
  return served.app.login(await createMember(served.db, { ...member, groups: [group] }));
}

describe('GET /computers/activities', () => {
  it('lists operations on the computers and their groups, newest first', async () => {
    const [one, two] = (await served.enrol(2)) as [RawAgent, RawAgent];
    const [both, alone] = [await served.install([one, two]), await served.install([two])];
    const list = (query: string, token = served.token) => call(`/computers/activities${query}`, token);
    const children = async (group: number) =>
      (await call(`/activities/${group}`)).children.map((child: { id: number }) => child.id);
    const [[first, second], [third]] = [await children(both), await children(alone)];
    const ids = ({ results }: { results: Array<{ id: number }> }) => results.map(({ id }) => id);
    expect(ids(await list(`?computer_ids=${one.id}`))).toEqual([both, first].sort((a, b) => b - a));
    const all = [both, first, second, alone, third].sort((a, b) => b - a);
    expect(ids(await list(`?computer_ids=${one.id},${two.id}`))).toEqual(all);
    const page = await list(`?computer_ids=${one.id}&computer_ids=${two.id}&limit=2&offset=1`);
    expect(page.count).toBe(5);
    expect(ids(page)).toEqual(all.slice(1, 3));
    const operations = await list(`?computer_ids=${one.id},${two.id}&operations_only=true`);
    expect([operations.count, ids(operations)]).toEqual([3, [first, second, third].sort((a, b) => b - a)]);
    expect((await list(`?computer_ids=${one.id}`, await loginLimitedTo('laptops'))).error).toBe('UnknownComputer');
    expect((await list('?computer_ids=2000000000')).error).toBe('UnknownComputer');
  });

  it('separates operations that have ended from those that have not', async () => {
    const [one] = (await served.enrol(1)) as [RawAgent];
    const [ended, open] = [await served.install([one]), await served.install([one])];
    await served.db.query(`update activity set status = 'succeeded', completion_time = now() where parent_id = $1`, [
      ended,
    ]);
    const ids = async (query: string) =>
      (await call(`/computers/activities?computer_ids=${one.id}${query}`)).results.map(({ id }: { id: number }) => id);
    expect(await ids('&open=false')).toContain(ended);
    expect(await ids('&open=false')).toHaveLength(2);
    expect(await ids('&open=true')).toContain(open);
    expect(await ids('&open=true')).toHaveLength(2);
    expect(await ids('&open=true&operations_only=true')).toHaveLength(1);
    expect(await ids('')).toHaveLength(4);
    expect(await call(`/computers/activities?computer_ids=${one.id}&open=soon`)).toMatchObject({
      error: 'InvalidParameter',
    });
  });

  it('reads every key of a query, however many there are', async () => {
    const [one] = (await served.enrol(1)) as [RawAgent];
    const group = await served.install([one]);
    const many = (count: number) => `computer_ids=${one.id}&`.repeat(count);
    const first = await call(`/computers/activities?${many(999)}limit=1`);
    expect(first.count).toBe(2);
    const { pathname, search } = new URL(first.next, 'http://x');
    const second = await call(pathname.replace('/api/v2', '') + search);
    expect(second.next).toBeNull();
    expect([first, second].map(({ results }) => results[0].id)).toContain(group);
    expect(second.results[0].id).not.toBe(first.results[0].id);
    expect(await call(`/computers/activities?${many(1000)}limit=-1`)).toMatchObject({ error: 'InvalidParameter' });
    expect(await call(`/computers/activities?${many(1001)}`)).toMatchObject({ error: 'InvalidParameter' });
  });

  it('ID-bad: what cannot be an id is rejected', async () => {
    for (const query of [
      '',
      '?computer_ids=',
      '?computer_ids=x',
      '?computer_ids=0',
      '?computer_ids=1.5',
      '?computer_ids=1,-2',
    ]) {
      expect(await call(`/computers/activities${query}`)).toMatchObject({ error: 'InvalidParameter' });
    }
  });
});
