import { Migration } from '@mikro-orm/migrations';

/**
 * Since when which condition of a computer stands, and how many upgrades it could take: one narrow row per computer,
 * so that alerts and counts are found without its wide rows. The database keeps it with the facts, whoever writes those.
 */
export class Migration20261121052000ComputerStatus extends Migration {
  override up(): void {
    for (const statement of [...TABLES, ...FUNCTIONS, ...TRIGGERS, ...EXISTING]) this.addSql(statement);
  }
}

const TABLES = [
  `create table computer_status (
    computer_id int primary key references computer on delete cascade,
    regular_upgrades int not null default 0,
    security_upgrades int not null default 0,
    regular_upgrades_since timestamptz,
    security_upgrades_since timestamptz,
    package_profiles_since timestamptz,
    package_reporter_since timestamptz,
    reboot_since timestamptz,
    esm_disabled_since timestamptz,
    duplicate_since timestamptz,
    child_profiles_since timestamptz) with (fillfactor = 80)`,
  // Silence counts from here when a computer was never heard from.
  `alter table computer_contact add column known_since timestamptz not null default now()`,
  // Fixed when the row is made: an index on the status itself would end HOT updates of every activity.
  `alter table activity add column needed_approval boolean not null default false`,
  `create index activity_needed_approval on activity (computer_id) where needed_approval`,
];

const FUNCTIONS = [
  `create function multirange_size(ids int4multirange) returns int language sql immutable parallel safe as $$
    select coalesce(sum(upper(r) - lower(r)), 0)::int from unnest(ids) r
  $$`,
  // Services of a subscription as its tool prints them: what a computer has no right to is not switched off.
  `create function esm_is_disabled(pro jsonb) returns boolean language sql immutable parallel safe as $$
    select coalesce(jsonb_path_exists(pro, '$.services[*] ?
      (@.name starts with "esm-" && @.status == "disabled" && !(@.entitled == "no") && !(@.available == "no"))'), false)
  $$`,
  `create function standing_since(active boolean, earlier timestamptz) returns timestamptz
    language sql stable parallel safe as $$
    select case when active then coalesce(earlier, now()) end
  $$`,
  `create function note_computer_status() returns trigger language plpgsql as $$
  declare
    esm_disabled boolean := esm_is_disabled(new.distro_pro_info);
  begin
    insert into computer_status as s (computer_id, reboot_since, esm_disabled_since, duplicate_since)
    values (new.id, standing_since(new.reboot_required, null), standing_since(esm_disabled, null),
      standing_since(new.clone_id is not null, null))
    on conflict (computer_id) do update set
      reboot_since = standing_since(new.reboot_required, s.reboot_since),
      esm_disabled_since = standing_since(esm_disabled, s.esm_disabled_since),
      duplicate_since = standing_since(new.clone_id is not null, s.duplicate_since);
    return null;
  end $$`,
  `create function note_package_status() returns trigger language plpgsql as $$
  declare
    regular int := multirange_size(new.available_upgrades - new.security);
    security int := multirange_size(new.available_upgrades * new.security);
  begin
    insert into computer_status as s (computer_id, regular_upgrades, security_upgrades, regular_upgrades_since,
      security_upgrades_since)
    values (new.computer_id, regular, security, standing_since(regular > 0, null), standing_since(security > 0, null))
    on conflict (computer_id) do update set
      regular_upgrades = regular, security_upgrades = security,
      regular_upgrades_since = standing_since(regular > 0, s.regular_upgrades_since),
      security_upgrades_since = standing_since(security > 0, s.security_upgrades_since);
    return null;
  end $$`,
  `create function note_reporter_status() returns trigger language plpgsql as $$
  declare
    failed boolean := coalesce(new.package_report->>'code', '0') <> '0';
  begin
    insert into computer_status as s (computer_id, package_reporter_since)
    values (new.computer_id, standing_since(failed, null))
    on conflict (computer_id) do update set package_reporter_since = standing_since(failed, s.package_reporter_since);
    return null;
  end $$`,
  `create function note_needed_approval() returns trigger language plpgsql as $$
  begin
    new.needed_approval := true;
    return new;
  end $$`,
];

const TRIGGERS = [
  `create trigger computer_status_made after insert on computer for each row
    when (new.reboot_required or new.clone_id is not null or new.distro_pro_info is not null)
    execute function note_computer_status()`,
  `create trigger computer_status_changed after update of reboot_required, clone_id, distro_pro_info on computer
    for each row when (old.reboot_required is distinct from new.reboot_required
      or old.clone_id is distinct from new.clone_id or old.distro_pro_info is distinct from new.distro_pro_info)
    execute function note_computer_status()`,
  `create trigger computer_packages_made after insert on computer_packages for each row
    execute function note_package_status()`,
  `create trigger computer_packages_changed after update of available_upgrades, security on computer_packages
    for each row when (old.available_upgrades is distinct from new.available_upgrades
      or old.security is distinct from new.security)
    execute function note_package_status()`,
  `create trigger computer_inventory_made after insert on computer_inventory for each row
    when (new.package_report is not null) execute function note_reporter_status()`,
  `create trigger computer_inventory_changed after update of package_report on computer_inventory for each row
    when (old.package_report is distinct from new.package_report) execute function note_reporter_status()`,
  `create trigger activity_needed_approval before insert on activity for each row
    when (new.status = 'unapproved') execute function note_needed_approval()`,
];

/** What was stored before counts as standing from now on. */
const EXISTING = [
  `insert into computer_status (computer_id, regular_upgrades, security_upgrades, regular_upgrades_since,
     security_upgrades_since, package_reporter_since, reboot_since, esm_disabled_since, duplicate_since)
   select c.id, p.regular, p.security, standing_since(p.regular > 0, null), standing_since(p.security > 0, null),
     standing_since(coalesce(i.package_report->>'code', '0') <> '0', null), standing_since(c.reboot_required, null),
     standing_since(esm_is_disabled(c.distro_pro_info), null), standing_since(c.clone_id is not null, null)
   from computer c left join computer_inventory i on i.computer_id = c.id
     left join computer_packages k on k.computer_id = c.id
     cross join lateral (
       select coalesce(multirange_size(k.available_upgrades - k.security), 0) as regular,
         coalesce(multirange_size(k.available_upgrades * k.security), 0) as security) p`,
  `update activity set needed_approval = true where status = 'unapproved'`,
];
