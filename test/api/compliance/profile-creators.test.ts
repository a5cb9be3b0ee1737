import { afterAll, beforeAll, expect, it } from 'vitest';
import { createMember } from '../../../tools/harness/accounts.ts';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';
import { event, script, scriptProfile } from '../../support/scripts/scripts.ts';
import { usgProfile } from '../../support/compliance/usg.ts';

let world: FleetWorld;

beforeAll(async () => {
  world = await createFleetWorld();
});
afterAll(() => world?.close());

const call = (method: string, path: string, body?: object, token = world.tokens.admin) =>
  world.app.call(method, path, { token, ...(body ? { body } : {}) });

interface Alert {
  id: number;
  alert_type: string;
  scope: string;
  status: string;
}
async function alert(token?: string): Promise<Alert> {
  const alerts: Alert[] = (await call('GET', '/alerts', undefined, token)).body;
  return alerts.find(({ alert_type }) => alert_type === 'ProfileCreatorsAlert')!;
}
const summary = async (token?: string): Promise<string[]> =>
  (await call('GET', '/alerts/summary', undefined, token)).body.alerts_summary
    .filter((line: Alert) => line.alert_type === 'ProfileCreatorsAlert')
    .map((line: { summary: string }) => line.summary);

/** Somebody who makes a USG profile of the servers and a script profile of everything. */
async function creator(name: string) {
  const person = await createMember(world.db, {
    accountId: world.accountId,
    email: `${name}@fleet.example`,
    role: 'GlobalAdmin',
  });
  const token = await world.app.login(person);
  const made = await call('POST', '/scripts', script({ title: name }));
  const profile = scriptProfile(made.body.id, { title: name, trigger: event });
  const scriptId = (await call('POST', '/script-profiles', profile, token)).body.id as number;
  const usg = usgProfile({ title: name, access_group: 'servers' });
  const usgId = (await call('POST', '/usg-profiles', usg, token)).body.id as number;
  expect([scriptId, usgId]).toEqual([expect.any(Number), expect.any(Number)]);
  return { ...person, token, scriptId, usgId };
}

it('raises an alert about active profiles whose creator is no longer an administrator', async () => {
  const { personId, scriptId, usgId } = await creator('leaver');
  expect(await alert()).toMatchObject({ scope: 'profile', status: 'inactive' });
  expect((await call('DELETE', `/administrators/${personId}`)).status).toBe(204);
  expect(await alert()).toMatchObject({ status: 'active' });
  const words = 'The creator of an active profile is no longer an administrator';
  expect(await summary()).toEqual([`${words} (2 profiles)`]);
  expect(await summary(world.tokens.servers)).toEqual([`${words} (1 profile)`]);
  expect(await summary(world.tokens.foreign)).toEqual([]);

  const { id } = await alert();
  expect((await call('POST', `/alerts/${id}/dismiss`)).body).toMatchObject({ status: 'dismissed' });
  expect(await summary()).toEqual([]);
  expect(await summary(world.tokens.servers)).toHaveLength(1);
  const second = await creator('second leaver');
  await call('DELETE', `/administrators/${second.personId}`);
  expect(await summary()).toEqual([`${words} (2 profiles)`]);

  const archived = [
    await call('POST', `/script-profiles/${scriptId}:archive`),
    await call('POST', `/usg-profiles/${usgId}:archive`),
    await call('POST', `/script-profiles/${second.scriptId}:archive`),
    await call('POST', `/usg-profiles/${second.usgId}:archive`),
  ];
  expect(archived.every(({ status }) => status < 300)).toBe(true);
  expect(await alert()).toMatchObject({ status: 'inactive' });
});

it('clears it when the creator is an administrator again', async () => {
  const { personId } = await creator('returner');
  await call('DELETE', `/administrators/${personId}`);
  expect(await summary()).toHaveLength(1);
  await world.db.query('insert into membership (account_id, person_id) values ($1, $2)', [world.accountId, personId]);
  expect(await summary()).toEqual([]);
});

it('counts a profile from before anybody noted when its creator left', async () => {
  const { personId } = await creator('long gone');
  await world.db.query('delete from membership where person_id = $1', [personId]);
  expect(await summary(world.tokens.servers)).toHaveLength(1);
});
