import { Migration } from '@mikro-orm/migrations';

/** Runs of script profiles by the trigger that made them, counted as a profile gets another one. */
export class Migration20261121080100ScriptTriggers extends Migration {
  override up(): void {
    for (const statement of STATEMENTS) this.addSql(statement);
  }
}

const STATEMENTS = [
  `drop function access_group_path(int)`,
  `alter table script_profile drop column trigger_set_at, add column trigger_number int not null default 1`,
  `alter table script_profile_run drop constraint script_profile_run_profile_id_nominal_time_key,
    add column trigger_number int not null default 1,
    add constraint script_profile_run_nominal unique (profile_id, trigger_number, nominal_time)`,
  `drop view scoped_script_profile`,
  `create view scoped_script_profile as
    select p.id, p.account_id, s.access_group_id, p.title as name, p.title, p.all_computers, p.tags, p.trigger_type,
      p.archived
    from script_profile p join script s on s.id = p.script_id`,
];
