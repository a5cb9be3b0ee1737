import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { activityGroups } from '../../support/activities/activity-rows.ts';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';
import { usgProfile } from '../../support/compliance/usg.ts';
import { script, scriptProfile } from '../../support/scripts/scripts.ts';

let world: FleetWorld;
const { act, report } = activityGroups(() => world);

beforeAll(async () => {
  world = await createFleetWorld();
});
afterAll(() => world?.close());

const read = (path: string, ifNoneMatch?: string, { method = 'GET', token = world.tokens.admin } = {}) =>
  world.app.call(method, path, { token, headers: ifNoneMatch ? { 'if-none-match': ifNoneMatch } : {} });

describe('GET /activities/{id} with If-None-Match', () => {
  it('returns 304 without a body while nothing changes, and 200 once something does', async () => {
    const group = await act(['web', 'db']);
    const path = `/activities/${group}`;
    const first = await read(path);
    const tag = first.headers.get('etag')!;
    expect(tag).toMatch(/^W\/"[0-9a-f]{32}"$/);
    const same = await read(path, tag);
    expect([same.status, same.text, same.headers.get('etag')]).toEqual([304, '', tag]);
    await world.processEvents();
    await report(group, true, null);
    const changed = await read(path, tag);
    expect(changed.status).toBe(200);
    expect(changed.headers.get('etag')).not.toBe(tag);
    expect((await read(path, changed.headers.get('etag')!)).status).toBe(304);
  });

  it('compares lists and `*` weakly, also for HEAD', async () => {
    const path = `/activities/${await act(['web'])}`;
    const tag = (await read(path)).headers.get('etag')!;
    const opaque = tag.slice(2);
    for (const header of [`"x", ${tag}`, `"x",${opaque}`, opaque, '*']) {
      expect([header, (await read(path, header)).status]).toEqual([header, 304]);
    }
    expect((await read(path, '"x", W/"y"')).status).toBe(200);
    const head = await read(path, undefined, { method: 'HEAD' });
    expect([head.status, head.headers.get('etag')]).toEqual([200, tag]);
    expect((await read(path, tag, { method: 'HEAD' })).status).toBe(304);
    expect((await read('/activities/2147483647', '*')).status).toBe(404);
  });

  it('has a tag of its own for each view, and for what depends on the time', async () => {
    const later = new Date(world.clock.now().getTime() + 3_600_000).toISOString();
    const path = `/activities/${await act(['web', 'desk'], { deliver_after: later })}`;
    const tag = (await read(path)).headers.get('etag')!;
    const restricted = await read(path, tag, { token: world.tokens.servers });
    expect(restricted.status).toBe(200);
    world.clock.advance(3_600_000);
    const due = await read(path, tag);
    expect([due.status, due.body?.activity_status]).toEqual([200, 'undelivered']);
  });

  it('reads no rows of a group for 304', async () => {
    const path = `/activities/${await act(['web', 'db'])}`;
    const tag = (await read(path)).headers.get('etag')!;
    const query = vi.spyOn(world.persistence.genericPlanDb, 'query');
    try {
      expect((await read(path, tag)).status).toBe(304);
      const names = query.mock.calls.map(([, , name]) => name);
      expect(names).toContain('activity-states');
      expect(names).not.toContain('activity-tagged');
      expect(names).not.toContain('activity-children-tagged');
    } finally {
      query.mockRestore();
    }
  });
});

describe('If-None-Match of other resources', () => {
  /** Reads a resource, changes it and reads it again. */
  async function changesWith(path: string, change: () => Promise<unknown>): Promise<void> {
    const first = await read(path);
    const tag = first.headers.get('etag')!;
    expect(tag).toMatch(/^W\/"[0-9a-f]{32}/);
    const same = await read(path, tag);
    expect([path, same.status, same.text]).toEqual([path, 304, '']);
    await change();
    const changed = await read(path, tag);
    expect([path, changed.status]).toEqual([path, 200]);
    expect(changed.headers.get('etag')).not.toBe(tag);
    expect(changed.body).not.toEqual(first.body);
  }
  const call = (method: string, path: string, body: object) =>
    world.app.call(method, path, { token: world.tokens.admin, body });

  it('changes with a computer and the blocks that are requested', async () => {
    const path = `/computers/${world.ids['web']}`;
    await changesWith(path, () => call('PUT', path, { comment: 'changed' }));
    const tag = (await read(path)).headers.get('etag')!;
    expect((await read(`${path}?with_network=true`, tag)).status).toBe(200);
    await changesWith(`${path}?with_annotations=true&with_alerts=true`, () =>
      world.db.query(`update computer set annotations = '{"site": "x"}' where id = $1`, [world.ids['web']]),
    );
  });

  it('changes with a USG profile, its computers and its dates', async () => {
    const created = await call(
      'POST',
      '/usg-profiles',
      usgProfile({ schedule: 'FREQ=WEEKLY', start_date: '2026-11-21T14:00:00Z' }),
    );
    expect([created.status, created.text]).toEqual([201, expect.anything()]);
    const path = `/usg-profiles/${created.body.id}`;
    await changesWith(path, () => call('PATCH', path, { title: 'Other' }));
    await changesWith(path, () =>
      world.db.query('update computer set archived = true where id = $1', [world.ids['desk']]),
    );
    await changesWith(path, async () => world.clock.advance(3_660_000));
  });

  it('changes with a script profile and its last run', async () => {
    const added = await call('POST', '/scripts', script());
    const profile = await call('POST', '/script-profiles', scriptProfile(added.body.id));
    expect([profile.status, profile.text]).toEqual([201, expect.anything()]);
    const path = `/script-profiles/${profile.body.id}`;
    await changesWith(path, () => call('PATCH', path, { title: 'Other' }));
    await changesWith(path, async () => {
      const run = await act(['web']);
      await world.db.query(
        `insert into script_profile_run (account_id, profile_id, trigger_number, started_at, activity_id, computer_count)
         select account_id, id, trigger_number, now(), $2, 1 from script_profile where id = $1`,
        [profile.body.id, run],
      );
    });
  });
});
