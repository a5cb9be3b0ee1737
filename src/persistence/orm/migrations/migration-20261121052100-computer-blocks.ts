import { Migration } from '@mikro-orm/migrations';

/** What pages of computers show beside the computers, in the form they show it. */
export class Migration20261121052100ComputerBlocks extends Migration {
  override up(): void {
    for (const statement of [...HARDWARE, ...PROFILES]) this.addSql(statement);
  }
}

const HARDWARE = [
  // Read from the lister's report once, when it arrives; `json` goes into answers as it is.
  `alter table computer_hardware add column flat json, add column grouped json`,
];

// Since when a computer complies with a profile or does not; alerts tell it.
const PROFILES = [
  `alter table computer_profile add column status_since timestamptz not null default now()`,
  `create index computer_profile_noncompliant on computer_profile (computer_id, type)
    where status = 'noncompliant'`,
  `create function note_profile_status() returns trigger language plpgsql as $$
  begin
    new.status_since := now();
    return new;
  end $$`,
  `create trigger computer_profile_status before update of status on computer_profile for each row
    when (old.status is distinct from new.status) execute function note_profile_status()`,
  `alter table computer_status drop column package_profiles_since, drop column child_profiles_since`,
];
