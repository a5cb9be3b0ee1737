import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ALERT_NAMES, type AlertName } from '../../../src/domain/events/alerts.ts';
import type { Database } from '../../../src/persistence/database/sql.ts';
import { ALERT_RULES, alertCondition } from '../../../src/persistence/query/alert-conditions.ts';
import { insertComputer } from '../../support/computers/computers.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { createAdmin } from '../../support/http/app.ts';

let database: TestDatabase;
let db: Database;
let accountId: number;

beforeAll(async () => {
  database = await createTestDatabase();
  db = database.persistence.db;
  ({ accountId } = await createAdmin(database.persistence));
});

afterAll(() => database?.drop());

/** Every active alert as the rules have it; what has several causes on one computer is there for each. */
function activeAlerts(names: readonly AlertName[] = ALERT_NAMES): string {
  return ALERT_RULES.filter(({ name }) => names.includes(name))
    .map(
      ({ name, from, computer, active, since }) =>
        `select ${computer} as computer_id, '${name}' as name, ${since} as since from ${from} where ${active}`,
    )
    .join(' union all ');
}

/** The alerts of a computer, found by the selector's conditions; the rows of all alerts have to agree. */
async function alertsOf(id: number): Promise<AlertName[]> {
  const columns = ALERT_NAMES.map((name) => `${alertCondition(name)} as "${name}"`).join(', ');
  const [row] = await db.query<Record<AlertName, boolean>>(`select ${columns} from computer c where c.id = $1`, [id]);
  const rows = await db.query<{ name: AlertName; since: Date }>(
    `select name, since from (${activeAlerts()}) a join computer c on c.id = a.computer_id
     where a.computer_id = $1 and not c.archived`,
    [id],
  );
  const names = ALERT_NAMES.filter((name) => row![name]);
  expect(rows.map(({ name }) => name).sort()).toEqual([...names].sort());
  expect(rows.every(({ since }) => since instanceof Date && since.getTime() <= Date.now())).toBe(true);
  return names;
}

async function sinceOf(id: number, name: AlertName): Promise<Date | undefined> {
  const [row] = await db.query<{ since: Date }>(
    `select since from (${activeAlerts([name])}) a where computer_id = $1`,
    [id],
  );
  return row?.since;
}

describe('alert rules', () => {
  it('are declared once per name, in order', () => {
    expect(ALERT_RULES.map(({ name }) => name)).toEqual(ALERT_NAMES);
    expect(new Set(ALERT_RULES.map(({ type }) => type)).size).toBe(ALERT_NAMES.length);
  });

  it('come and go with the reboot flag and keep the moment they came', async () => {
    const id = await insertComputer(db, { accountId });
    expect(await alertsOf(id)).toEqual([]);
    await db.query('update computer set reboot_required = true where id = $1', [id]);
    expect(await alertsOf(id)).toEqual(['computer-reboot']);
    const since = await sinceOf(id, 'computer-reboot');
    await db.query(`update computer set clone_id = id, distro_pro_info = '{}' where id = $1`, [id]);
    expect(await sinceOf(id, 'computer-reboot')).toEqual(since);
    await db.query('update computer set reboot_required = false, clone_id = null where id = $1', [id]);
    expect(await alertsOf(id)).toEqual([]);
  });

  it('distinguish regular upgrades from security updates', async () => {
    const id = await insertComputer(db, { accountId });
    const set = (upgrades: string, security: string) =>
      db.query(
        `insert into computer_packages (computer_id, available_upgrades, security, updated_at) values ($1, $2, $3, now())
         on conflict (computer_id) do update set available_upgrades = excluded.available_upgrades,
           security = excluded.security`,
        [id, upgrades, security],
      );
    const counts = () =>
      db.query('select regular_upgrades, security_upgrades from computer_status where computer_id = $1', [id]);
    await set('{[1,3],[10,10]}', '{[3,9]}');
    expect(await counts()).toEqual([{ regular_upgrades: 3, security_upgrades: 1 }]);
    expect(await alertsOf(id)).toEqual(['package-upgrades', 'security-upgrades']);
    await set('{[3,4]}', '{[3,9]}');
    expect(await alertsOf(id)).toEqual(['security-upgrades']);
    await set('{}', '{[3,9]}');
    expect(await alertsOf(id)).toEqual([]);
    expect(await counts()).toEqual([{ regular_upgrades: 0, security_upgrades: 0 }]);
  });

  it('raise a failing package reporter until it works again', async () => {
    const id = await insertComputer(db, { accountId });
    await db.query('insert into computer_inventory (computer_id) values ($1)', [id]);
    const report = (code: number) =>
      db.query(
        `update computer_inventory set package_report = jsonb_build_object('code', $2::int) where computer_id = $1`,
        [id, code],
      );
    await report(100);
    expect(await alertsOf(id)).toEqual(['package-reporter']);
    await report(0);
    expect(await alertsOf(id)).toEqual([]);
  });

  it('raise silence after five minutes, by the clock alone', async () => {
    const id = await insertComputer(db, { accountId });
    const heard = (ping: string | null, exchange: string | null, known: string) =>
      db.query(
        `insert into computer_contact (computer_id, last_ping_time, last_exchange_time, known_since)
         values ($1, now() - $2::interval, now() - $3::interval, now() - $4::interval)
         on conflict (computer_id) do update set last_ping_time = excluded.last_ping_time,
           last_exchange_time = excluded.last_exchange_time, known_since = excluded.known_since`,
        [id, ping, exchange, known],
      );
    await heard('4 min 50 s', '1 hour', '1 day');
    expect(await alertsOf(id)).toEqual([]);
    await heard('5 min', '1 hour', '1 day');
    expect(await alertsOf(id)).toEqual(['computer-offline']);
    await heard('1 hour', '10 s', '1 day');
    expect(await alertsOf(id)).toEqual([]);
    await heard(null, null, '1 min');
    expect(await alertsOf(id)).toEqual([]);
    await heard(null, null, '65 min');
    expect(await alertsOf(id)).toEqual(['computer-offline']);
    expect(Date.now() - (await sinceOf(id, 'computer-offline'))!.getTime()).toBeGreaterThan(59 * 60_000);
  });

  it.each([
    [true, { name: 'esm-infra', status: 'disabled', entitled: 'yes', available: 'yes' }],
    [true, { name: 'esm-apps', status: 'disabled' }],
    [false, { name: 'esm-infra', status: 'enabled', entitled: 'yes', available: 'yes' }],
    [false, { name: 'esm-infra', status: 'disabled', entitled: 'no', available: 'yes' }],
    [false, { name: 'esm-infra', status: 'disabled', entitled: 'yes', available: 'no' }],
    [false, { name: 'fips', status: 'disabled', entitled: 'yes', available: 'yes' }],
    [false, 'not an object'],
  ])('take maintenance for switched off: %s for %j', async (disabled, service) => {
    const id = await insertComputer(db, { accountId });
    const info = JSON.stringify({ services: [{ name: 'livepatch', status: 'disabled' }, service] });
    await db.query('update computer set distro_pro_info = $2 where id = $1', [id, info]);
    expect(await alertsOf(id)).toEqual(disabled ? ['esm-disabled'] : []);
  });

  it('raise a clone while its original is there', async () => {
    const original = await insertComputer(db, { accountId });
    const id = await insertComputer(db, { accountId });
    await db.query('update computer set clone_id = $2 where id = $1', [id, original]);
    expect(await alertsOf(id)).toEqual(['computer-duplicates']);
    await db.query('update computer set archived = true where id = $1', [original]);
    expect(await alertsOf(id)).toEqual([]);
  });

  it('raise activities that nobody has approved', async () => {
    const id = await insertComputer(db, { accountId });
    await db.query(
      `insert into activity (account_id, computer_id, type, summary, status)
       select $1, $2, 'Test', 'test', status from unnest('{unapproved,undelivered}'::text[]) status`,
      [accountId, id],
    );
    expect(await alertsOf(id)).toEqual(['unapproved-activities']);
    await db.query(`update activity set status = 'undelivered' where computer_id = $1`, [id]);
    expect(await alertsOf(id)).toEqual([]);
  });

  it('are never those of archived computers', async () => {
    const id = await insertComputer(db, { accountId, archived: true });
    await db.query('update computer set reboot_required = true where id = $1', [id]);
    expect(await alertsOf(id)).toEqual([]);
  });
});
