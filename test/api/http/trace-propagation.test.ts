import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { activityGroups, childrenOf } from '../../support/activities/activity-rows.ts';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';
import { insertComputer } from '../../support/computers/computers.ts';
import { event, once, script, scriptProfile } from '../../support/scripts/scripts.ts';

const PAST = '2026-11-21T11:00:00Z';

let world: FleetWorld;
let traceparent: string;
const { act, report } = activityGroups(() => world);

beforeAll(async () => {
  world = await createFleetWorld();
});
afterAll(() => world?.close());

beforeEach(() => {
  const id = crypto.randomUUID().replaceAll('-', '');
  traceparent = `00-${id}-${id.slice(0, 16)}-01`;
});

/** A request of a client that traces. */
async function call(method: string, path: string, body?: object) {
  const response = await world.app.call(method, path, {
    token: world.tokens.admin,
    headers: { traceparent },
    ...(body && { body }),
  });
  expect(response.status, response.text).toBeLessThan(300);
  return response;
}

/** As {@link call}, of one that does not. */
const quietly = async (path: string, body: object) =>
  (await world.app.call('POST', path, { token: world.tokens.admin, body })).body;

/** The outbox commands written for the client. */
async function outboxCommands(): Promise<string[]> {
  const rows = await world.db.query<{ kind: string; key: string }>(
    'select kind, key from outbox where traceparent = $1 order by id',
    [traceparent],
  );
  return rows.map(({ kind, key }) => `${kind} ${key}`);
}

const leaving = (title: string) => insertComputer(world.db, { accountId: world.accountId, title });

describe('the trace of a request is propagated to the outbox by', () => {
  it('POST /activities/cancel, for groups and operations', async () => {
    const [whole, part] = [await act(['web', 'db']), await act(['web', 'db'])];
    await world.processEvents();
    const [first] = await childrenOf(world.db, part);
    await call('POST', '/activities/cancel', { activity_ids: [whole, first!.id] });
    expect(await outboxCommands()).toEqual([`cancel activity/${whole}`, `cancel activity/${first!.id}`]);
  });

  it('POST /activities/reapply and /activities/revert', async () => {
    const group = await act(['web']);
    await world.processEvents();
    await report(group, true);
    const again = (await call('POST', '/activities/reapply', { activity_ids: [group] })).body;
    const back = (await call('POST', '/activities/revert', { activity_ids: [group] })).body;
    expect(await outboxCommands()).toEqual([`start ${again[0]}`, `start ${back[0]}`]);
  });

  it('POST /computers/{id}/archive, with what it cancels', async () => {
    const id = await leaving('leaves');
    const group = await act([], { computer_ids: [id] });
    await world.processEvents();
    const { body } = await call('POST', `/computers/${id}/archive`, { computer_title: 'leaves' });
    expect(await outboxCommands()).toEqual([`cancel activity/${group}`, `start ${body.id}`]);
  });

  it('POST /computers:delete', async () => {
    const id = await leaving('goes');
    const group = await act([], { computer_ids: [id] });
    await world.processEvents();
    await call('POST', '/computers:delete', { computer_ids: [id] });
    expect(await outboxCommands()).toEqual([`cancel activity/${group}`]);
  });

  it('POST /scripts/{id}:redact', async () => {
    const { id } = await quietly('/scripts', script({ title: 'Secret' }));
    const group = (await quietly(`/scripts/${id}:execute`, { query: 'web' })).id;
    await world.processEvents();
    await call('POST', `/scripts/${id}:redact`);
    expect(await outboxCommands()).toEqual([`cancel activity/${group}`]);
  });

  it('PATCH /script-profiles/{id} with a time in the past', async () => {
    const { id: scriptId } = await quietly('/scripts', script({ title: 'Planned' }));
    const { id } = await quietly(
      '/script-profiles',
      scriptProfile(scriptId, { trigger: once('2026-12-01T00:00:00Z') }),
    );
    const { body } = await call('PATCH', `/script-profiles/${id}`, { trigger: once(PAST) });
    expect(await outboxCommands()).toEqual([`start ${body.activities.last_activity.id}`]);
  });

  it('POST /pending-computers:accept, to runs at enrolments', async () => {
    const { id: scriptId } = await quietly('/scripts', script({ title: 'Welcome' }));
    const { id } = await quietly('/script-profiles', scriptProfile(scriptId, { title: 'Welcome', trigger: event }));
    await call('POST', '/pending-computers:accept', { computer_ids: [world.ids['pending']] });
    const profile = (await call('GET', `/script-profiles/${id}`)).body;
    expect(await outboxCommands()).toEqual([`start ${profile.activities.last_activity.id}`]);
  });
});
