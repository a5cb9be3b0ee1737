import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';

let world: FleetWorld;

beforeAll(async () => {
  world = await createFleetWorld();
  await hear(['web', 'db', 'desk', 'archived', 'pending', 'foreign']);
});
afterAll(() => world?.close());

async function hear(titles: string[], ago = '0 minutes'): Promise<void> {
  await world.db.query(
    `insert into computer_contact (computer_id, last_ping_time, known_since)
     select c.id, now() - $2::interval, now() - interval '1 day' from computer c where c.title = any($1)
     on conflict (computer_id) do update set last_ping_time = excluded.last_ping_time`,
    [titles, ago],
  );
}
const flag = (titles: string[], reboot: boolean) =>
  world.db.query('update computer set reboot_required = $2 where title = any($1)', [titles, reboot]);

interface Alert {
  id: number;
  alert_type: string;
  status: string;
}
const list = async (token = world.tokens.admin): Promise<Alert[]> =>
  (await world.app.call('GET', '/alerts', { token })).body;
const summary = async (token = world.tokens.admin) =>
  (await world.app.call('GET', '/alerts/summary', { token })).body.alerts_summary;
const dismiss = (id: number | string, token = world.tokens.admin) =>
  world.app.call('POST', `/alerts/${id}/dismiss`, { token });
const statusOf = async (type: string, token = world.tokens.admin) =>
  (await list(token)).find((alert) => alert.alert_type === type)!.status;

describe('GET /alerts', () => {
  it('lists every alert, none active on a healthy fleet', async () => {
    const alerts = await list();
    expect(alerts.map(({ alert_type }) => alert_type)).toEqual([
      'PackageUpgradesAlert',
      'SecurityUpgradesAlert',
      'PackageProfilesAlert',
      'PackageReporterAlert',
      'ComputerOfflineAlert',
      'ComputerRebootAlert',
      'EsmDisabledAlert',
      'ComputerDuplicatesAlert',
      'UnapprovedActivitiesAlert',
      'ChildInstanceProfilesAlert',
      'ProfileCreatorsAlert',
      'WebhookPausedAlert',
    ]);
    expect(alerts[4]).toEqual({
      id: expect.any(Number),
      alert_type: 'ComputerOfflineAlert',
      label: 'The computer is offline',
      description: 'Computers that have been silent for five minutes',
      scope: 'computer',
      severity: 'danger',
      status: 'inactive',
      count: 0,
      activation_time: null,
      subscribed: false,
      all_computers: true,
      tags: [],
    });
    expect(await summary()).toEqual([]);
  });

  it('counts computers in sight alone: no archived ones, pending ones and those of another account', async () => {
    await flag(['desk', 'archived', 'pending', 'foreign'], true);
    await hear(['web', 'db', 'archived', 'pending', 'foreign'], '1 hour');
    const seen = await summary();
    expect(seen).toEqual([
      {
        alert_type: 'ComputerOfflineAlert',
        summary: 'The computer is offline (2 computers)',
        activation_time: expect.stringMatching(/^\d{4}-.*Z$/),
      },
      {
        alert_type: 'ComputerRebootAlert',
        summary: 'The computer needs to be restarted (1 computer)',
        activation_time: expect.any(String),
      },
    ]);
    const [web] = await world.db.query<{ heard: Date }>(
      `select last_ping_time as heard from computer_contact where computer_id = $1`,
      [world.ids['web']],
    );
    const silentFor = (Date.parse(seen[0].activation_time) - web!.heard.getTime()) / 60_000;
    expect(silentFor).toBeCloseTo(5, 0);
    expect((await list())[4]).toMatchObject({ count: 2, activation_time: seen[0].activation_time });
    expect((await list(world.tokens.servers))[5]).toMatchObject({ count: 0, activation_time: null });
    expect((await summary(world.tokens.servers)).map((alert: Alert) => alert.alert_type)).toEqual([
      'ComputerOfflineAlert',
    ]);
    expect(await statusOf('ComputerRebootAlert', world.tokens.servers)).toBe('inactive');
    await hear(['web', 'db', 'foreign']);
    expect(await statusOf('ComputerOfflineAlert')).toBe('inactive');
  });

  it('counts a computer once, whatever it has several of', async () => {
    await world.db.query(
      `insert into activity (account_id, computer_id, type, summary, status)
       select $1, $2, 'InstallSnaps', 'Install', 'unapproved' from generate_series(1, 3)`,
      [world.accountId, world.ids['web']],
    );
    const [line] = (await summary()).filter((alert: Alert) => alert.alert_type === 'UnapprovedActivitiesAlert');
    expect(line.summary).toBe('Activities wait for approval (1 computer)');
  });
});

describe('POST /alerts/<id>/dismiss', () => {
  it('hides an alert from the person until it is raised anew', async () => {
    await flag(['web', 'desk'], true);
    const { id } = (await list()).find(({ alert_type }) => alert_type === 'ComputerRebootAlert')!;
    const response = await dismiss(id);
    expect(response.body).toMatchObject({
      ...{ id, alert_type: 'ComputerRebootAlert', status: 'dismissed' },
      ...{ count: 2, activation_time: null },
    });
    expect((await dismiss(id)).status).toBe(200);
    const types = async (token?: string) => (await summary(token)).map((alert: Alert) => alert.alert_type);
    expect(await types()).not.toContain('ComputerRebootAlert');
    expect(await types(world.tokens.servers)).toContain('ComputerRebootAlert');
    await flag(['db'], true);
    const [again] = (await summary()).filter((alert: Alert) => alert.alert_type === 'ComputerRebootAlert');
    expect(again.summary).toBe('The computer needs to be restarted (1 computer)');
    await dismiss(id);
    await flag(['web'], false);
    await flag(['web'], true);
    expect(await statusOf('ComputerRebootAlert')).toBe('active');
    await flag(['web', 'db', 'desk'], false);
    expect(await statusOf('ComputerRebootAlert')).toBe('inactive');
    const { results } = (await world.app.call('GET', '/events?search=dismissed', { token: world.tokens.admin })).body;
    expect(results[0]).toMatchObject({ entity_type: 'Alert', entity_id: id, entity_name: 'ComputerRebootAlert' });
  });

  it('ID-bad: knows no alert of another account and none that cannot be', async () => {
    const [foreign] = await list(world.tokens.foreign);
    for (const id of [foreign!.id, 2_000_000_000, 0, -1, 'x', '1.5', '2147483648', '%00']) {
      expect((await dismiss(id)).body, String(id)).toMatchObject({ error: 'UnknownAlert', code: 404 });
    }
  });
});
