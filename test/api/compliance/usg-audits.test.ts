import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';
import { usgProfile, usgReportRequests } from '../../support/compliance/usg.ts';

let world: FleetWorld;
const { call, create, run } = usgReportRequests(() => world);

beforeAll(async () => {
  world = await createFleetWorld();
});
beforeEach(() => world.db.query('delete from usg_audit'));
afterAll(() => world?.close());

const audits = async (query = '', computer = 'web', token?: string) =>
  (await call('GET', `/computers/${world.ids[computer]}/usg-audits${query}`, token)).body;

const activityOf = async (runId: number) =>
  (await world.db.query<{ activity_id: number }>('select activity_id from usg_run where id = $1', [runId]))[0]!
    .activity_id;

describe('GET /computers/<id>/usg-audits', () => {
  it('lists the audits of one computer by all profiles, newest first', async () => {
    const [first, second] = [await create({ title: 'First' }), await create({ title: 'Second', mode: 'fix-audit' })];
    const [web, desk] = [world.ids['web']!, world.ids['desk']!];
    const oldest = await run(first, '2026-11-01T02:00:00Z');
    const other = await run(second, '2026-11-08T02:00:00Z', { computers: new Map([[web, null]]) });
    const newest = await run(first, '2026-11-15T02:00:00Z', { computers: new Map([[web, 'pxn']]) });
    await run(first, '2026-11-16T02:00:00Z', { computers: new Map([[desk, 'ppp']]) });
    await world.db.query('delete from activity where id = $1', [await activityOf(oldest)]);
    await world.db.query(`update usg_audit set reason = 'No report.' where run_id = $1`, [other]);
    const body = await audits();
    expect(body).toMatchObject({ count: 3, next: null, previous: null });
    const profile = { id: first, title: 'First' };
    expect(body.results).toEqual([
      {
        profile,
        mode: 'audit',
        activity_id: await activityOf(newest),
        started_at: '2026-11-15T02:00:00Z',
        reported_at: '2026-11-15T02:00:00Z',
        result: 'pass',
        open: false,
        passed_rules: 2,
        failed_rules: 0,
        reason: null,
      },
      {
        profile: { id: second, title: 'Second' },
        mode: 'fix-audit',
        activity_id: await activityOf(other),
        started_at: '2026-11-08T02:00:00Z',
        reported_at: null,
        result: 'fail',
        open: false,
        passed_rules: null,
        failed_rules: null,
        reason: 'No report.',
      },
      {
        profile,
        mode: 'audit',
        activity_id: null,
        started_at: '2026-11-01T02:00:00Z',
        reported_at: '2026-11-01T02:00:00Z',
        result: 'fail',
        open: false,
        passed_rules: 1,
        failed_rules: 1,
        reason: null,
      },
    ]);
    const page = await audits('?limit=1&offset=1');
    expect(page).toMatchObject({ count: 3, results: [body.results[1]] });
    expect(page.next).toContain('/usg-audits?limit=1&offset=2');
    expect(await audits('?limit=0')).toMatchObject({ count: 3, results: [] });
  });

  it('shows whether the result may still change', async () => {
    const body = usgProfile({ title: 'Open', all_computers: true });
    const { body: profile } = await world.app.call('POST', '/usg-profiles', { token: world.tokens.admin, body });
    const { id } = (await call('POST', `/usg-profiles/${profile.id}:execute`)).body;
    const result = async (computer = 'web') => {
      const { results } = await audits('', computer);
      return results.map((audit: { result: string; open: boolean }) => [audit.result, audit.open]);
    };
    expect(await result()).toEqual([['not-started', true]]);
    // The run stays open on the other computers.
    await world.db.query(
      `update activity set status = 'canceled', completion_time = now() where parent_id = $1 and computer_id = $2`,
      [id, world.ids['web']],
    );
    expect(await result()).toEqual([['not-started', false]]);
    expect(await result('db')).toEqual([['not-started', true]]);
    await world.db.query(`update usg_audit set state = 'in-progress' where computer_id = $1`, [world.ids['db']]);
    await world.db.query(
      `update activity set status = 'succeeded', completion_time = now() where parent_id = $1 and computer_id = $2`,
      [id, world.ids['db']],
    );
    expect(await result('db')).toEqual([['in-progress', true]]);
    await world.db.query('update activity set open_count = 0 where id = $1', [id]);
    expect(await result()).toEqual([['not-started', false]]);
  });

  it('leaves out profiles that the caller may not view, and keeps archived ones', async () => {
    const [servers, everywhere] = [await create(), await create({ access_group: 'global' })];
    await run(servers, '2026-11-01T02:00:00Z');
    await run(everywhere, '2026-11-02T02:00:00Z');
    await call('POST', `/usg-profiles/${servers}:archive`);
    const seen = async (token?: string) => {
      const { count, results } = await audits('', 'web', token);
      return [count, results.map(({ profile }: { profile: { id: number } }) => profile.id)];
    };
    expect(await seen()).toEqual([2, [everywhere, servers]]);
    expect(await seen(world.tokens.servers)).toEqual([1, [servers]]);
  });

  it.each([
    ['of another account', 'foreign', 'admin'],
    ['that is pending', 'pending', 'admin'],
    ['out of sight', 'desk', 'servers'],
  ] as const)('knows no computer %s', async (_, computer, who) => {
    expect(await audits('', computer, world.tokens[who])).toMatchObject({ error: 'UnknownComputer', code: 404 });
  });

  it.each(['limit=-1', 'offset=x', 'limit=1&limit=2', 'result=fail'])('rejects %s', async (query) => {
    expect(await audits(`?${query}`)).toMatchObject({ error: 'InvalidParameter', code: 400 });
  });
});
