import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addEvent, childrenOf } from '../../support/activities/activity-rows.ts';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';
import { insertPackage, reportKernels, reportPackages } from '../../support/computers/computers.ts';

let world: FleetWorld;
let web: number;
let db: number;
let acts: Record<string, (after: unknown) => { path: string; body: object }>;

beforeAll(async () => {
  world = await createFleetWorld();
  [web, db] = [world.ids['web']!, world.ids['db']!];
  const kernels = await reportKernels(world.db, web);
  const curl = await insertPackage(world.db, 'curl', '8.5.0-2', 'curl');
  await reportPackages(world.db, db, { installed: [], available: [curl] });
  await world.db.query(`insert into computer_inventory (computer_id, client_types) values ($1, $2)`, [
    web,
    ['fde-recovery-key', 'shutdown'],
  ]);
  const { id: script } = await post('/scripts', { title: 'Uptime', code: '#!/bin/sh\nuptime' }, 201);
  const { id: profile } = await post(
    '/usg-profiles',
    {
      title: 'Audit',
      mode: 'audit',
      benchmark: 'cis_level1_server',
      schedule: 'FREQ=WEEKLY',
      start_date: '2090-01-01',
      access_group: 'servers',
      all_computers: true,
    },
    201,
  );
  const done = await snaps([web]);
  await end(done, true);
  const on = `/computers/${web}`;
  acts = {
    snaps: (after) => ({
      path: '/snaps',
      body: { action: 'install', computer_ids: [web], snaps: [{ name: 'hello' }], after },
    }),
    packages: (after) => ({
      path: '/packages',
      body: { action: 'install', computer_ids: [db], package_ids: [curl], after },
    }),
    'kernel upgrade': (after) => ({
      path: `${on}/kernel/upgrade`,
      body: { kernel_package_id: kernels.next, reboot_after: true, after },
    }),
    restart: (after) => ({ path: `${on}/restart`, body: { after } }),
    shutdown: (after) => ({ path: `${on}/shutdown`, body: { after } }),
    processes: (after) => ({ path: '/processes/kill', body: { computer_id: web, pids: [7], after } }),
    'recovery key': (after) => ({ path: `${on}/recovery-key:generate`, body: { force: true, after } }),
    script: (after) => ({ path: `/scripts/${script}:execute`, body: { query: `id:${web}`, after } }),
    'USG profile': (after) => ({ path: `/usg-profiles/${profile}:execute`, body: { after } }),
    sanitize: (after) => ({ path: `${on}/sanitize`, body: { computer_title: 'web', after } }),
    reapply: (after) => ({ path: '/activities/reapply', body: { activity_ids: [done], after } }),
    revert: (after) => ({ path: '/activities/revert', body: { activity_ids: [done], after } }),
  };
});
afterAll(() => world?.close());

async function post(path: string, body: object, status = 200) {
  const response = await world.app.call('POST', path, { token: world.tokens.admin, body });
  expect([path, response.status, response.text]).toEqual([path, status, response.text]);
  return response.body;
}

const snaps = async (computers: readonly number[], more: object = {}): Promise<number> =>
  (await post('/snaps', { action: 'install', computer_ids: computers, snaps: [{ name: 'first' }], ...more })).id;

async function end(group: number, ok: boolean, computer?: number): Promise<void> {
  await world.processEvents();
  for (const child of await childrenOf(world.db, group)) {
    if (computer !== undefined && child.computer_id !== computer) continue;
    await addEvent(world.db, { batch: child.lane_id, activity: child.id, kind: 'result', ok, at: world.clock.now() });
  }
  await world.processEvents();
}

const read = async (id: number) =>
  (await world.app.call('GET', `/activities/${id}`, { token: world.tokens.admin })).body;

/** Status of the group, and of its children in order. */
async function statuses(group: number): Promise<string[]> {
  const { activity_status, children } = await read(group);
  return [activity_status, ...children.map((child: { activity_status: string }) => child.activity_status)];
}

const NAMES = [
  ...['snaps', 'packages', 'kernel upgrade', 'restart', 'shutdown', 'processes', 'recovery key', 'script'],
  ...['USG profile', 'sanitize', 'reapply', 'revert'],
];

describe('an action that names an activity to follow', () => {
  it.each(NAMES)('%s: waits for it, and is canceled where it fails', async (name) => {
    const prior = await snaps([web, db]);
    const { path, body } = acts[name]!(prior);
    const response = await post(path, body);
    const id: number = Array.isArray(response) ? response[0] : response.id;
    await world.processEvents();
    expect((await statuses(id))[0]).toBe('waiting');
    expect(await read(id)).toMatchObject({ after: prior });
    expect(
      await world.db.query(
        'select state from agent_message m join activity a on a.id = m.activity_id where a.parent_id = $1',
        [id],
      ),
    ).toEqual([]);
    await end(prior, false);
    await world.processEvents();
    const children = await childrenOf(world.db, id);
    expect(children.length).toBeGreaterThan(0);
    const text = `Activity ${prior} did not succeed on this computer.`;
    const ended = children.filter(({ result_text }) => result_text === text);
    expect(ended.map(({ status }) => status)).toEqual(ended.map(() => 'canceled'));
    expect(children.every(({ status }) => status === 'canceled' || status === 'failed')).toBe(true);
  });

  it.each(NAMES)('%s: rejects one that is unknown or does nothing there, and leaves no trace', async (name) => {
    const elsewhere = await snaps([world.ids['desk']!]);
    const foreign = (
      await world.app.call('POST', '/snaps', {
        token: world.tokens.foreign,
        body: { action: 'install', computer_ids: [world.ids['foreign']], snaps: [{ name: 'x' }] },
      })
    ).body.id;
    const count = async () => (await world.db.query('select count(*)::int as n, max(id) as last from activity'))[0];
    const before = await count();
    for (const [after, status, error] of [
      [2_147_483_647, 404, 'UnknownActivity'],
      [foreign, 404, 'UnknownActivity'],
      [elsewhere, 400, 'InvalidParameter'],
      [0, 400, 'InvalidParameter'],
      ['1', 400, 'InvalidParameter'],
    ] as const) {
      const { path, body } = acts[name]!(after);
      const response = await world.app.call('POST', path, { token: world.tokens.admin, body });
      expect([after, response.status, response.body.error]).toEqual([after, status, error]);
    }
    expect(await count()).toEqual(before);
    const [{ awaited }] = (await world.db.query(
      'select bool_or(awaited) as awaited from lane where parent_id in ($1, $2)',
      [elsewhere, foreign],
    )) as [{ awaited: boolean }];
    expect(awaited).toBe(false);
  });
});

describe('what waits for another activity', () => {
  it('goes on each computer by itself, as soon as that one has succeeded there', async () => {
    const prior = await snaps([web, db]);
    const next = await snaps([web, db], { after: prior });
    await world.processEvents();
    expect(await statuses(next)).toEqual(['waiting', 'waiting', 'waiting']);
    await end(prior, true, web);
    expect(await statuses(next)).toEqual(['undelivered', 'undelivered', 'waiting']);
    await end(prior, false, db);
    expect((await statuses(next)).slice(1)).toEqual(['undelivered', 'canceled']);
    const [, lost] = await childrenOf(world.db, next);
    expect(lost!.result_text).toBe(`Activity ${prior} did not succeed on this computer.`);
    await end(next, true, web);
    expect((await statuses(next)).slice(1)).toEqual(['succeeded', 'canceled']);
  });

  it('goes at once where that one has succeeded already, and is canceled where it failed', async () => {
    const prior = await snaps([web, db]);
    await end(prior, true, web);
    await end(prior, false, db);
    const next = await snaps([web, db], { after: prior });
    expect((await statuses(next))[0]).toBe('waiting');
    await world.processEvents();
    expect((await statuses(next)).slice(1)).toEqual(['undelivered', 'canceled']);
  });

  it('may name a single operation, and waits for all steps of a chain', async () => {
    const chain = await post(`/computers/${web}/kernel/upgrade`, acts['kernel upgrade']!(null).body);
    const [change, restart] = await childrenOf(world.db, chain.id);
    const [stepDependent, chainDependent] = [
      await snaps([web], { after: change!.id }),
      await snaps([web], { after: chain.id }),
    ];
    await world.processEvents();
    const done = (id: number, batch: number) =>
      addEvent(world.db, { batch, activity: id, kind: 'result', ok: true, at: world.clock.now() });
    await done(change!.id, change!.lane_id);
    await world.processEvents();
    await world.processEvents();
    expect([await statuses(stepDependent), await statuses(chainDependent)]).toEqual([
      ['undelivered', 'undelivered'],
      ['waiting', 'waiting'],
    ]);
    await done(restart!.id, restart!.lane_id);
    await world.processEvents();
    expect(await statuses(chainDependent)).toEqual(['undelivered', 'undelivered']);
  });

  it('keeps its time of delivery when that one ends before, and is found by its status', async () => {
    const prior = await snaps([web]);
    const deliver_after = new Date(world.clock.now().getTime() + 3_600_000).toISOString();
    const next = await snaps([web], { after: prior, deliver_after });
    const found = async (status: string) =>
      (
        await world.app.call('GET', `/activities?query=${encodeURIComponent(`id:${next} status:${status}`)}`, {
          token: world.tokens.admin,
        })
      ).body.count;
    expect([await statuses(next), await found('waiting')]).toEqual([['waiting', 'waiting'], 1]);
    await end(prior, true);
    expect([await statuses(next), await found('scheduled')]).toEqual([['scheduled', 'scheduled'], 1]);
    world.clock.advance(3_600_000);
    expect([await statuses(next), await found('undelivered')]).toEqual([['undelivered', 'undelivered'], 1]);
  });

  it('can be canceled while it waits', async () => {
    const prior = await snaps([web]);
    const next = await snaps([web], { after: prior });
    await world.processEvents();
    await post('/activities/cancel', { activity_ids: [next] });
    await world.processEvents();
    await end(prior, true);
    expect(await statuses(next)).toEqual(['canceled', 'canceled']);
  });

  it('follows in rows of any number', async () => {
    const row = [await snaps([web])];
    for (let i = 0; i < 4; i++) row.push(await snaps([web], { after: row[i]! }));
    await world.processEvents();
    await end(row[0]!, true);
    await end(row[1]!, false);
    for (let i = 0; i < 4; i++) await world.processEvents();
    const ends = await Promise.all(row.map(async (id) => (await statuses(id))[1]));
    expect(ends).toEqual(['succeeded', 'failed', 'canceled', 'canceled', 'canceled']);
  });

  it('takes the parameter in the query where the others stand there too', async () => {
    const prior = await snaps([web]);
    const { kernel_package_id } = acts['kernel upgrade']!(null).body as { kernel_package_id: number };
    const path = `/computers/${web}/kernel/upgrade?kernel_package_id=${kernel_package_id}&after=${prior}`;
    const { id } = await post(path, {});
    expect(await read(id)).toMatchObject({ after: prior, activity_status: 'waiting' });
    await world.processEvents(true);
  });

  it('is not shown where nothing was named', async () => {
    const id = await snaps([web]);
    expect(await read(id)).not.toHaveProperty('after');
  });
});
