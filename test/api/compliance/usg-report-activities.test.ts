import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMember } from '../../../tools/harness/accounts.ts';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';
import { usgReportRequests } from '../../support/compliance/usg.ts';

let world: FleetWorld;
const { call, create, requestReport } = usgReportRequests(() => world);

beforeAll(async () => {
  world = await createFleetWorld();
});
afterAll(() => world?.close());

describe('GET /usg-profiles/<id>/report', () => {
  it('shows the activity to whoever sees the profile', async () => {
    const id = await create();
    const hidden = await create({ access_group: 'desktops' });
    const ours = (await requestReport(id, 'start_date=2026-05-04', world.tokens.servers)).body.id;
    const theirs = (await requestReport(hidden, 'start_date=2026-05-04')).body.id;
    expect((await requestReport(hidden, 'start_date=2026-05-04', world.tokens.servers)).status).toBe(404);
    expect((await call('GET', `/activities/${ours}`, world.tokens.servers)).body.actions.cancelable).toBe(true);
    expect((await call('GET', `/activities/${ours}`, world.tokens.auditor)).body.actions.cancelable).toBe(false);
    expect((await call('GET', `/activities/${theirs}`, world.tokens.servers)).status).toBe(404);
    expect((await call('GET', `/activities/${ours}`, world.tokens.foreign)).status).toBe(404);
    const { body } = await call('GET', '/activities/parents', world.tokens.servers);
    expect(body.results.find((item: { id: number }) => item.id === ours)).toMatchObject({
      children_count: 0,
      children_statuses: { good: 0, warning: 0, bad: 0 },
      computer_count: 0,
      computer: null,
    });
  });

  it('hides the activity from somebody who sees all computers and no profiles', async () => {
    const { db, accountId, app } = world;
    const email = 'computers@fleet.example';
    const member = await createMember(db, { accountId, email, role: 'Auditor', groups: ['global'] });
    await db.query(`update role set permissions = '{ViewComputer}' where name = $1`, [email]);
    const token = await app.login(member);
    const report = (await requestReport(await create(), 'start_date=2026-05-04')).body.id;
    const body = { action: 'install', computer_ids: [world.ids['web']], snaps: [{ name: 'hello' }] };
    const group = (await app.call('POST', '/snaps', { token: world.tokens.admin, body })).body.id;
    expect((await call('GET', `/activities/${report}`, token)).status).toBe(404);
    for (const list of ['/activities/parents', '/activities/parents?query=status:undelivered']) {
      const page = (await call('GET', list, token)).body;
      const ids = page.results.map(({ id }: { id: number }) => id);
      expect(ids).toContain(group);
      expect(ids).not.toContain(report);
      expect(page.count).toBe(ids.length);
    }
  });
});
