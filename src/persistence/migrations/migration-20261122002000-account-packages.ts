import { Migration } from '@mikro-orm/migrations';

/** Which packages the computers of each account were told of: others they may not name, and so not be shown. */
export class Migration20261122002000AccountPackages extends Migration {
  override up(): void {
    for (const statement of STATEMENTS) this.addSql(statement);
  }
}

const SETS = ['installed', 'available', 'available_upgrades', 'locked', 'autoremovable', 'security'];
const each = (text: (set: string) => string, between = ', '): string => SETS.map(text).join(between);

const STATEMENTS = [
  `create table account_packages (
    account_id int primary key references account on delete cascade,
    known int4multirange not null)`,
  // Nobody was ever told an id without a package; left in a set, it would show the package that gets it some day.
  `update computer_packages s set ${each((set) => `${set} = s.${set} * m.made`)}
    from (select int4multirange(int4range(1, coalesce(max(id), 0) + 1)) as made from package) m
    where not (${each((set) => `m.made @> s.${set}`, ' and ')})`,
  // One set after the other: all ranges of all computers at once would not fit into memory.
  `do $$
  declare
    owner_id int;
    reported int4multirange;
    told int4multirange;
  begin
    for owner_id in select id from account order by id loop
      told := '{}';
      for reported in
        select unnest(array[${each((set) => `s.${set}`)}])
        from computer c join computer_packages s on s.computer_id = c.id where c.account_id = owner_id
      loop
        if not told @> reported then told := told + reported; end if;
      end loop;
      if told <> '{}' then insert into account_packages (account_id, known) values (owner_id, told); end if;
    end loop;
  end $$`,
];
