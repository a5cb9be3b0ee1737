import { Migration } from '@mikro-orm/migrations';

/**
 * Triggers keep the plans of their first, small statements. Joined by nested loops, rows before and after a change of
 * 100,000 rows would be compared each with each; so these functions plan without.
 */
export class Migration20261127030000EventPlans extends Migration {
  override up(): void {
    for (const statement of STATEMENTS) this.addSql(statement);
  }
}

const STATEMENTS = [
  // The computers are selected first: without nested loops, the join would read all of them.
  `create or replace function note_alerts() returns trigger language plpgsql as $$
  begin
    insert into cloud_event (position, account_id, type, computer_id, data)
    select event_position(), c.account_id, case when a.since is null then 'alert.resolved' else 'alert.raised' end, c.id,
      jsonb_build_object('alert_type', a.name)
    from changed n left join former o on o.computer_id = n.computer_id
    join (select id, account_id from computer
      where state = 'approved' and id = any(array(select computer_id from changed))) c on c.id = n.computer_id
    cross join lateral (values
      ('PackageUpgradesAlert', o.regular_upgrades_since, n.regular_upgrades_since),
      ('SecurityUpgradesAlert', o.security_upgrades_since, n.security_upgrades_since),
      ('PackageReporterAlert', o.package_reporter_since, n.package_reporter_since),
      ('ComputerRebootAlert', o.reboot_since, n.reboot_since),
      ('EsmDisabledAlert', o.esm_disabled_since, n.esm_disabled_since),
      ('ComputerDuplicatesAlert', o.duplicate_since, n.duplicate_since)) a(name, was, since)
    where (a.was is null) <> (a.since is null) order by c.id, a.name;
    return null;
  end $$`,
  ...['note_alerts', 'note_changed_activities', 'note_changed_computers'].map(
    (name) => `alter function ${name}() set enable_nestloop = off`,
  ),
];
