import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ingestReports } from '../../../src/services/compliance/audits/ingest.ts';
import { readAuditReport } from '../../../src/services/compliance/audits/read-report.ts';
import { createEngine } from '../../../src/services/engine/engine.ts';
import { addEvent, childrenOf } from '../../support/activities/activity-rows.ts';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';
import { auditReport, usgProfile } from '../../support/compliance/usg.ts';

let world: FleetWorld;

beforeAll(async () => {
  world = await createFleetWorld();
});
afterAll(() => world?.close());

const now = () => new Date('2026-11-21T12:00:00Z');
const call = (method: string, path: string, body?: unknown, token = world.tokens.admin) =>
  world.app.call(method, path, { token, ...(body === undefined ? {} : { body }) });
const create = async (over: object = {}) => (await call('POST', '/usg-profiles', usgProfile(over))).body;
const results = async (id: number) => (await call('GET', `/usg-profiles/${id}`)).body.last_run_results;
const found = async (query: string) =>
  (await call('GET', `/computers?query=${encodeURIComponent(query)}`)).body.results
    .map(({ id }: { id: number }) => id)
    .sort((a: number, b: number) => a - b);

/** Lets the computers of a run respond; those that are not named do nothing. */
async function respond(activity: number, responses: Record<number, 'fetched' | 'passes' | 'fails' | 'breaks'>) {
  const { db } = world;
  const engine = createEngine({ ...world.persistence, clock: { now }, settings: { expiryDays: 30 } });
  for (const { id, computer_id, lane_id } of await childrenOf(db, activity)) {
    const how = responses[computer_id];
    if (how) {
      const kind = how === 'fetched' ? 'delivered' : 'result';
      await addEvent(db, { batch: lane_id, activity: id, kind, ok: how !== 'breaks', body: 'said', at: now() });
    }
    if (how === 'passes' || how === 'fails') {
      const report = auditReport([how === 'passes' ? 'pass' : 'fail']);
      await db.query('insert into usg_audit_report values ($1, $2, $3, $4, $5)', [id, computer_id, 'r', report, now()]);
    }
    await engine.processPendingEvents(lane_id, false);
  }
  await ingestReports({ db, clock: { now }, read: async (report) => readAuditReport(report) });
}

const computersOf = async (activity: number): Promise<number[]> =>
  (await childrenOf(world.db, activity)).map(({ computer_id }) => computer_id);

/** Cancels all that is open of a run, and has its batches take that. */
async function cancel(activity: number): Promise<void> {
  expect((await call('POST', '/activities/cancel', { activity_ids: [activity] })).status).toBe(200);
  await respond(activity, {});
}

describe('last_run_results', () => {
  it('follow a run from its start to its report', async () => {
    const { id } = await create();
    const { body: run } = await call('POST', `/usg-profiles/${id}:execute`);
    const [first, second, third] = (await childrenOf(world.db, run.id)).map(({ computer_id }) => computer_id);
    const started = { timestamp: '2026-11-21T12:00:00Z', report_uri: 'in-progress' };
    expect(await results(id)).toEqual({
      ...started,
      not_started: 3,
      in_progress: 0,
      passing: 0,
      failing: 0,
      pass_rate: null,
    });
    await respond(run.id, { [first!]: 'fetched', [second!]: 'passes' });
    expect(await results(id)).toMatchObject({ ...started, not_started: 1, in_progress: 1, passing: 1, pass_rate: 100 });
    expect(await found(`profile:usg:${id}`)).toEqual([first, second, third]);
    expect(await found(`profile:usg:${id}:in-progress`)).toEqual([first, third]);
    expect(await found(`profile:security:${id}:pass`)).toEqual([second]);
    await respond(run.id, { [first!]: 'fails', [third!]: 'breaks' });
    expect(await results(id)).toEqual({
      timestamp: '2026-11-21T12:00:00Z',
      report_uri: `usg_profile_audit_report_ID${id}-20261121.csv`,
      not_started: 0,
      in_progress: 0,
      passing: 1,
      failing: 2,
      pass_rate: 33,
    });
    expect(await found(`profile:usg:${id}:fail`)).toEqual([first, third]);
    expect(await found(`profile:usg:${id}:in-progress`)).toEqual([]);
    const listed = async (query: string) => (await call('GET', `/usg-profiles?${query}`)).body.count;
    expect(await listed('pass_rate_from=33&pass_rate_to=33')).toBe(1);
    expect(await listed('pass_rate_from=34')).toBe(0);
  });

  it('are those of the latest run, which leaves out computers with an open one', async () => {
    const { id } = await create();
    const { body: run } = await call('POST', `/usg-profiles/${id}:execute`);
    const [first] = (await childrenOf(world.db, run.id)).map(({ computer_id }) => computer_id);
    expect((await call('POST', `/usg-profiles/${id}:execute`)).body).toMatchObject({
      error: 'ActivityInProgress',
      code: 409,
    });
    await respond(run.id, { [first!]: 'passes' });
    const { body: again } = await call('POST', `/usg-profiles/${id}:execute`);
    expect((await childrenOf(world.db, again.id)).map(({ computer_id }) => computer_id)).toEqual([first]);
    expect(await results(id)).toMatchObject({ not_started: 1, passing: 0 });
    expect(await found(`profile:usg:${id}:pass`)).toEqual([first]);
  });

  it('stay those of the last results after a run that was canceled as a whole', async () => {
    const { id } = await create();
    const { body: run } = await call('POST', `/usg-profiles/${id}:execute`);
    const [first, second, third] = await computersOf(run.id);
    await respond(run.id, { [first!]: 'passes', [second!]: 'passes', [third!]: 'fails' });
    const before = await results(id);
    const { body: again } = await call('POST', `/usg-profiles/${id}:execute`);
    await respond(again.id, { [first!]: 'fetched' });
    expect(await results(id)).toMatchObject({ in_progress: 1, not_started: 2, passing: 0, report_uri: 'in-progress' });
    await cancel(again.id);
    expect(await results(id)).toEqual(before);
    const listed = async (query: string) => (await call('GET', `/usg-profiles?${query}`)).body.results;
    expect((await listed('pass_rate_from=67&pass_rate_to=67')).map((one: { id: number }) => one.id)).toEqual([id]);
  });

  it('count nobody as failing or in progress by a run that was canceled', async () => {
    const { id } = await create();
    const { body: run } = await call('POST', `/usg-profiles/${id}:execute`);
    const [first, second] = await computersOf(run.id);
    await respond(run.id, { [first!]: 'fetched', [second!]: 'passes' });
    await cancel(run.id);
    expect(await results(id)).toMatchObject({
      not_started: 2,
      in_progress: 0,
      passing: 1,
      failing: 0,
      pass_rate: 100,
      report_uri: `usg_profile_audit_report_ID${id}-20261121.csv`,
    });
  });
});

describe('selectors of profiles', () => {
  it('find computers in scope, and nothing of another account', async () => {
    const { id } = await create({ access_group: 'servers' });
    const servers = await found('access-group-recursive:servers');
    expect(servers.length).toBeGreaterThan(0);
    expect(await found(`profile:usg:${id}`)).toEqual(servers);
    expect(await found(`NOT profile:usg:${id} profile:usg:${id}`)).toEqual([]);
    expect(await found(`profile:usg:${id + 1000}`)).toEqual([]);
    expect((await call('GET', `/computers?query=profile:usg:${id}:bad`)).body).toMatchObject({ code: 400 });
  });

  it.each(['usg', 'security'])('find by profile:%s nobody in progress before the first run', async (name) => {
    const { id } = await create();
    expect(await found(`profile:${name}:${id}:in-progress`)).toEqual([]);
    expect(await found(`NOT profile:${name}:${id}:in-progress`)).toEqual(await found(''));
  });

  it.each(['usg', 'security'])('find by profile:%s the last result, and beside it what is open', async (name) => {
    const { id } = await create();
    const select = (status: string) => found(`profile:${name}:${id}:${status}`);
    const { body: run } = await call('POST', `/usg-profiles/${id}:execute`);
    const [first, second, third] = await computersOf(run.id);
    expect(await select('in-progress')).toEqual([first, second, third]);
    await respond(run.id, { [first!]: 'passes', [second!]: 'fails', [third!]: 'fetched' });
    expect(await select('in-progress')).toEqual([third]);
    await cancel(run.id);
    expect(await select('in-progress')).toEqual([]);
    const { body: again } = await call('POST', `/usg-profiles/${id}:execute`);
    await respond(again.id, { [first!]: 'fetched' });
    expect(await select('in-progress')).toEqual([first, second, third]);
    expect([await select('pass'), await select('fail')]).toEqual([[first], [second]]);
    await cancel(again.id);
    expect(await select('in-progress')).toEqual([]);
    expect([await select('pass'), await select('fail')]).toEqual([[first], [second]]);
    const { body: last } = await call('POST', `/usg-profiles/${id}:execute`);
    await respond(last.id, { [first!]: 'fails', [second!]: 'passes', [third!]: 'breaks' });
    expect([await select('pass'), await select('fail'), await select('in-progress')]).toEqual([
      [second],
      [first, third],
      [],
    ]);
  });

  it('find nobody in progress for an archived profile, and keep its last results', async () => {
    const { id } = await create();
    const { body: run } = await call('POST', `/usg-profiles/${id}:execute`);
    const [first, second, third] = await computersOf(run.id);
    await respond(run.id, { [first!]: 'passes', [second!]: 'fetched' });
    await call('POST', `/usg-profiles/${id}:archive`);
    expect(await found(`profile:usg:${id}:in-progress`)).toEqual([]);
    expect(await found(`profile:usg:${id}:pass`)).toEqual([first]);
    expect(await results(id)).toMatchObject({ in_progress: 0, not_started: 2, passing: 1 });
    await respond(run.id, { [second!]: 'passes', [third!]: 'fails' });
    expect(await results(id)).toMatchObject({ in_progress: 0, not_started: 0, passing: 2, failing: 1 });
    expect(await found(`profile:usg:${id}:fail`)).toEqual([third]);
  });

  it('are marked as deprecated by their older name', async () => {
    const response = await call('GET', '/computers?query=profile:security:1');
    expect(response.headers.get('deprecation')).toMatch(/^@\d+$/);
  });
});

describe('with_profiles', () => {
  it('shows active USG profiles of each computer, exactly those whose scope it is in', async () => {
    await create({ title: 'Zeta of servers', access_group: 'servers' });
    await create({ title: 'By tag', all_computers: false, tags: ['web'] });
    await create({ title: 'By nothing', all_computers: false });
    const archived = await create({ title: 'Archived' });
    await call('POST', `/usg-profiles/${archived.id}:archive`);
    const { results: profiles } = (await call('GET', '/usg-profiles?status=active')).body;
    const { results: computers } = (await call('GET', '/computers?with_profiles=true')).body;
    const shown = new Map<number, number[]>(profiles.map(({ id }: { id: number }) => [id, []]));
    for (const computer of computers) {
      for (const { id, type } of computer.profiles) if (type === 'usg') shown.get(id)!.push(computer.id);
    }
    for (const [id, members] of shown) {
      expect([id, members.sort((a, b) => a - b)]).toEqual([id, await found(`profile:usg:${id}`)]);
    }
    expect([...shown.values()].some((members) => members.length === 0)).toBe(true);
    const names = computers[0].profiles.map(({ name }: { name: string }) => name);
    expect(names).toEqual([...names].sort());
  });
});
