import { Migration } from '@mikro-orm/migrations';

/** What computers have named so far counts as told; apart from the table, whose making holds up changes of accounts. */
export class Migration20261122002100ToldPackages extends Migration {
  override up(): void {
    for (const statement of STATEMENTS) this.addSql(statement);
  }
}

const SETS = ['installed', 'available', 'available_upgrades', 'locked', 'autoremovable', 'security'];
const each = (text: (set: string) => string, between = ', '): string => SETS.map(text).join(between);

const STATEMENTS = [
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
      if told <> '{}' then
        -- A new gateway may have begun to record.
        insert into account_packages as a (account_id, known) values (owner_id, told)
        on conflict (account_id) do update set known = a.known + excluded.known;
      end if;
    end loop;
  end $$`,
];
