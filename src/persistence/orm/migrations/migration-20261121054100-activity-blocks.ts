import { Migration } from '@mikro-orm/migrations';

/**
 * How many activities there are, by account and block of 4,096 ids: the number of all is a sum of few rows, and a page
 * far down begins in a known block. Kept by the statements that add and remove activities, whoever makes them.
 */
export class Migration20261121054100ActivityBlocks extends Migration {
  override up(): void {
    for (const statement of STATEMENTS) this.addSql(statement);
  }
}

// Several rows for one block, by connection: whoever adds activities holds a row until its commit, and others of the
// account need not wait for it. Blocks are taken in order, so that two that wait never wait for each other.
const STATEMENTS = [
  `create table activity_block (
    account_id int not null,
    block int not null,
    shard smallint not null,
    activities int not null,
    parents int not null,
    primary key (account_id, block, shard)) with (fillfactor = 50)`,
  `insert into activity_block (account_id, block, shard, activities, parents)
   select account_id, id >> 12, 0, count(*), count(*) filter (where parent_id is null) from activity group by 1, 2`,
  `create function count_activities() returns trigger language plpgsql as $$
  declare
    sign int := case tg_op when 'INSERT' then 1 else -1 end;
  begin
    insert into activity_block as known (account_id, block, shard, activities, parents)
    select account_id, id >> 12, pg_backend_pid() % 16, sign * count(*), sign * count(*) filter (where parent_id is null)
    from changed group by 1, 2 order by 1, 2
    on conflict (account_id, block, shard) do update set
      activities = known.activities + excluded.activities, parents = known.parents + excluded.parents;
    return null;
  end $$`,
  `create trigger activities_added after insert on activity referencing new table as changed
    for each statement execute function count_activities()`,
  `create trigger activities_removed after delete on activity referencing old table as changed
    for each statement execute function count_activities()`,
];
