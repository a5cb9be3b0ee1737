-- Gives this database and all that is in it to the role that the setting flotilla.owner names. Run by a superuser; can be repeated.
do $$
declare
  new_owner constant text := current_setting('flotilla.owner');
  new_oid constant oid := new_owner::regrole;
  command text;
begin
  for command in
    with own_schema as (
      select oid, nspname, nspowner from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema'
    ), thing as (
      -- What belongs to the database's owner by itself, as the schema public does, stays so.
      select 1 as place, 'schema' as kind, quote_ident(nspname) as name, nspowner as owner, 0::oid as class, oid
      from own_schema where nspowner <> 'pg_database_owner'::regrole
      union all
      select 2, case relkind when 'S' then 'sequence' when 'v' then 'view' when 'm' then 'materialized view' else 'table' end,
        format('%I.%I', nspname, relname), relowner, 'pg_class'::regclass, c.oid
      from pg_class c join own_schema s on s.oid = c.relnamespace where relkind in ('r', 'p', 'v', 'm', 'S')
      union all
      select 3, case prokind when 'p' then 'procedure' when 'a' then 'aggregate' else 'function' end,
        format('%I.%I(%s)', nspname, proname, pg_get_function_identity_arguments(p.oid)), proowner, 'pg_proc'::regclass, p.oid
      from pg_proc p join own_schema s on s.oid = p.pronamespace
      union all
      select 4, case typtype when 'd' then 'domain' else 'type' end, format('%I.%I', nspname, typname), typowner,
        'pg_type'::regclass, t.oid
      from pg_type t join own_schema s on s.oid = t.typnamespace left join pg_class c on c.oid = t.typrelid
      where typtype in ('d', 'e', 'r') or typtype = 'c' and c.relkind = 'c'
    )
    select format('alter %s %s owner to %I', kind, name, new_owner) from thing
    where owner <> new_oid and not exists (
      -- Members of extensions stay theirs, and the sequence of a column goes with its table.
      select from pg_depend d where d.classid = thing.class and d.objid = thing.oid
        and (d.deptype = 'e' or kind = 'sequence' and d.deptype in ('a', 'i')))
    order by place
  loop
    execute command;
  end loop;
  execute format('alter database %I owner to %I', current_database(), new_owner);
  execute format('revoke all on database %I from public', current_database());
end
$$;
