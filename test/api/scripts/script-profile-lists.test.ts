import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/process/config.ts';
import { createAdmin, createTestApp } from '../../support/http/app.ts';
import { insertComputer } from '../../support/computers/computers.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';
import { event, once, recurring, script, scriptProfile, scriptProfileRequests } from '../../support/scripts/scripts.ts';

let world: FleetWorld;
const { scriptIds, call, addScripts, nextTurn, create, turn } = scriptProfileRequests(() => world);

beforeAll(async () => {
  world = await createFleetWorld();
  await addScripts();
});
afterAll(() => world?.close());
beforeEach(nextTurn);

const rejected = { error: 'InvalidParameter', code: 400 };

describe('lists of script profiles', () => {
  it('filters by state, titles and parts of them, newest first', async () => {
    const made: Array<{ id: number; title: string }> = [];
    for (const name of ['alpha', 'beta', 'gamma']) {
      world.clock.advance(1000);
      made.push((await create({ title: `Listed ${name}` })).body);
    }
    await call('POST', `/script-profiles/${made[1]!.id}:archive`);
    const ids = async (query: string) =>
      (await call('GET', `/script-profiles?search=LISTED&${query}`)).body.results.map((p: { id: number }) => p.id);
    expect(await ids('')).toEqual([made[2]!.id, made[0]!.id]);
    expect(await ids('archived=archived')).toEqual([made[1]!.id]);
    expect(await ids('archived=all')).toEqual(made.map(({ id }) => id).toReversed());
    expect(await ids('archived=all&names=Listed%20alpha,Listed%20beta')).toEqual([made[1]!.id, made[0]!.id]);
    const page = (await call('GET', '/script-profiles?search=listed&archived=all&limit=1&offset=1')).body;
    expect(page).toMatchObject({ count: 3, results: [{ id: made[1]!.id }], next: expect.stringContaining('offset=2') });
    expect((await call('GET', '/script-profiles?archived=yes')).body).toMatchObject(rejected);
    const ofScript = (await call('GET', `/scripts/${scriptIds.global}/script-profiles`)).body;
    expect(ofScript.results.map((p: { id: number }) => p.id)).toEqual(expect.arrayContaining(made.map(({ id }) => id)));
    expect(ofScript.results.every((p: { script_id: number }) => p.script_id === scriptIds.global)).toBe(true);
  });

  it('shows only profiles of scripts in sight', async () => {
    const { id } = (await create()).body;
    const there = (await create({ script_id: scriptIds.servers, title: `Servers ${turn()}` })).body;
    for (const token of [world.tokens.servers, world.tokens.foreign]) {
      expect((await call('GET', `/script-profiles/${id}`, undefined, token)).body.error).toBe('UnknownScriptProfile');
      for (const verb of ['', ':archive', '/activities', '/computers']) {
        const method = verb === ':archive' ? 'POST' : 'GET';
        expect((await call(method, `/script-profiles/${id}${verb}`, undefined, token)).status).toBe(404);
      }
    }
    const seen = (await call('GET', '/script-profiles', undefined, world.tokens.servers)).body.results;
    expect(seen.map((p: { id: number }) => p.id)).toContain(there.id);
    expect(seen.every((p: { script_id: number }) => p.script_id === scriptIds.servers)).toBe(true);
    expect((await call('PATCH', `/script-profiles/${id}`, { title: 'x' }, world.tokens.mixed)).status).toBe(403);
  });

  it('shows a run on no computer to whoever sees the profile or its script', async () => {
    const nobody = { trigger: once('2026-11-20T00:00:00Z'), all_computers: false, tags: ['nobody'] };
    const made = async (over: object) => (await create({ ...nobody, ...over })).body.activities.last_activity.id;
    const ours = await made({ script_id: scriptIds.servers });
    const theirs = await made({ title: `Global ${turn()}` });
    const { servers } = world.tokens;
    const { body: by } = await call('POST', `/scripts/${scriptIds.servers}:execute`, { query: 'tag:nobody' }, servers);
    expect((await call('GET', `/activities/${by.id}`, undefined, servers)).body).toMatchObject({ id: by.id });
    expect((await call('GET', `/activities/${ours}`, undefined, servers)).status).toBe(200);
    expect((await call('GET', `/activities/${theirs}`, undefined, servers)).status).toBe(404);
    for (const list of ['/activities', '/activities/parents', '/activities?query=status:succeeded']) {
      const { body } = await call('GET', list, undefined, servers);
      const ids = body.results.map(({ id }: { id: number }) => id);
      expect(ids).toContain(ours);
      expect(ids).not.toContain(theirs);
    }
  });
});

describe('computers of a script profile', () => {
  it('counts, finds, lists and names the same ones', async () => {
    const tag = `tag-${turn()}`;
    const { accountId } = world;
    const tagged = await insertComputer(world.db, { accountId, title: 'tagged', group: 'servers', tags: [tag, 'b'] });
    await insertComputer(world.db, { accountId, title: 'elsewhere', group: 'desktops', tags: [tag] });
    await insertComputer(world.db, { accountId, title: 'gone', group: 'servers', tags: [tag], archived: true });
    const scope = { script_id: scriptIds.servers, all_computers: false, tags: [tag, 'none'] };
    const { id, computers } = (await create(scope)).body;
    expect(computers.num_associated_computers).toBe(1);
    const idsOf = async (path: string, token?: string) =>
      (await call('GET', path, undefined, token)).body.results.map((c: { id: number }) => c.id);
    expect(await idsOf(`/script-profiles/${id}/computers`)).toEqual([tagged]);
    expect(await idsOf(`/computers?query=profile:script:${id}`)).toEqual([tagged]);
    expect(await idsOf(`/computers?query=profile:script:${id}`, world.tokens.foreign)).toEqual([]);
    expect(await idsOf(`/computers?query=NOT%20profile:script:${id}%20tag:${tag}`)).toHaveLength(1);
    const profiles = async () => (await call('GET', `/computers/${tagged}?with_profiles=true`)).body.profiles;
    expect(await profiles()).toContainEqual({
      id,
      name: `Profile ${turn()}`,
      title: `Profile ${turn()}`,
      type: 'script',
    });
    await call('PATCH', `/script-profiles/${id}`, { trigger: event });
    expect((await call('GET', `/script-profiles/${id}`)).body.computers.num_associated_computers).toBe(0);
    expect(await idsOf(`/computers?query=profile:script:${id}`)).toEqual([]);
    expect((await profiles()).map((p: { id: number }) => p.id)).not.toContain(id);
  });

  it('are named by no archived profile, and by none of an archived script', async () => {
    const own = (await call('POST', '/scripts', script({ title: `Own ${turn()}` }))).body.id;
    const { id } = (await create({ script_id: own })).body;
    await call('POST', `/scripts/${own}:archive`);
    expect((await call('GET', `/script-profiles/${id}`)).body.archived).toBe(true);
    expect((await call('GET', `/computers?query=profile:script:${id}`)).body.count).toBe(0);
    const redacted = (await call('POST', '/scripts', script({ title: `Red ${turn()}` }))).body.id;
    const of = (await create({ script_id: redacted, title: `Red ${turn()}` })).body.id;
    await call('POST', `/scripts/${redacted}:redact`);
    expect((await call('GET', `/script-profiles/${of}`)).body.archived).toBe(true);
  });
});

describe('activities of a script profile', () => {
  it('are its runs, newest first, the latest in the profile', async () => {
    const { id } = (await create({ script_id: scriptIds.servers })).body;
    const made: number[] = [];
    for (const query of [`id:${world.ids['web']}`, 'access-group:servers']) {
      world.clock.advance(1000);
      const run = (await call('POST', `/scripts/${scriptIds.servers}:execute`, { query })).body;
      await world.db.query(
        `insert into script_profile_run (account_id, profile_id, activity_id, started_at) values ($1, $2, $3, $4)`,
        [world.accountId, id, run.id, world.clock.now()],
      );
      made.unshift(run.id);
    }
    const path = `/script-profiles/${id}/activities`;
    const { body } = await call('GET', path);
    expect(body.results.map((a: { id: number }) => a.id)).toEqual(made);
    expect(body).toMatchObject({ count: 2, results: [{ computer: null }, { computer: { id: world.ids['web'] } }] });
    expect((await call('GET', `${path}?limit=1&offset=1`)).body.results).toHaveLength(1);
    const profile = (await call('GET', `/script-profiles/${id}`)).body;
    expect(profile.activities.last_activity).toEqual(body.results[0]);
    expect((await call('GET', path, undefined, world.tokens.servers)).body.count).toBe(2);
  });
});

describe('limits', () => {
  it('are shown', async () => {
    const { body } = await call('GET', '/script-profile-limits');
    expect(body).toEqual({ max_num_computers: 5000, max_num_profiles: 100, min_interval: 60 });
  });

  it('hold for profiles that are not archived, however many requests come at once', async () => {
    const database = await createTestDatabase();
    await createAdmin(database.persistence);
    const scriptProfiles = { maxComputers: 10, maxProfiles: 2, minIntervalMinutes: 30 };
    const app = await createTestApp(database.persistence, { settings: { scriptProfiles } });
    try {
      const token = await app.login();
      const post = (path: string, body?: object) => app.call('POST', path, { token, ...(body && { body }) });
      const { id } = (await post('/scripts', script())).body;
      const requested = ['a', 'b', 'c', 'd'].map((title) => post('/script-profiles', scriptProfile(id, { title })));
      const responses = await Promise.all(requested);
      expect(responses.map(({ status }) => status).sort()).toEqual([201, 201, 400, 400]);
      const over = responses.find(({ status }) => status === 400)!;
      expect(over.body).toMatchObject({ error: 'ProfileLimitReached', code: 400 });
      await post(`/script-profiles/${responses.find(({ status }) => status === 201)!.body.id}:archive`);
      const trigger = recurring('*/30 * * * *');
      expect((await post('/script-profiles', scriptProfile(id, { title: 'e', trigger }))).status).toBe(201);
    } finally {
      await app.close();
      await database.drop();
    }
  });

  it('come from settings', () => {
    const env = { FLOTILLA_SCRIPT_PROFILE_MAX_PROFILES: '7', FLOTILLA_SCRIPT_PROFILE_MIN_INTERVAL: '5' };
    expect(loadConfig(env, 'stack').scriptProfiles).toEqual({
      maxComputers: 5000,
      maxProfiles: 7,
      minIntervalMinutes: 5,
    });
  });
});

describe('a deployment that is not self-hosted', () => {
  it('has no script profiles on any route, whatever is requested', async () => {
    const database = await createTestDatabase();
    await createAdmin(database.persistence);
    const app = await createTestApp(database.persistence, { deployment: 'saas' });
    try {
      const token = await app.login();
      const id = (await app.call('POST', '/scripts', { token, body: script() })).body.id;
      for (const [method, path, body] of [
        ['GET', '/script-profiles'],
        ['POST', '/script-profiles', {}],
        ['POST', '/script-profiles', scriptProfile(id)],
        ['GET', '/script-profiles/1'],
        ['PATCH', '/script-profiles/1', {}],
        ['POST', '/script-profiles/1:archive'],
        ['GET', '/script-profiles/1/activities'],
        ['GET', '/script-profiles/1/computers'],
        ['GET', '/script-profile-limits'],
        ['GET', `/scripts/${id}/script-profiles`],
      ] as const) {
        const response = await app.call(method, path, { token, body });
        expect(response.body, `${method} ${path}`).toMatchObject({ error: 'FeatureNotEnabled', code: 403 });
        expect((await app.call(method, path, { body })).body.error).toBe('Unauthorized');
      }
      expect((await app.call('GET', `/scripts/${id}`, { token })).body.script_profiles).toEqual([]);
    } finally {
      await app.close();
      await database.drop();
    }
  });
});
