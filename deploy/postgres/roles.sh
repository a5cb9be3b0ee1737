#!/bin/sh
# Creates the roles of docker-compose.yml and their databases: flotilla owns its own, temporal its two, neither can do more. Can be
# repeated. An installation whose only role was flotilla, a superuser, is migrated; this needs its postgres_password.
set -eu

export PGHOST="${PGHOST:-postgres}" PGCONNECT_TIMEOUT=5 PGOPTIONS='-c client_min_messages=warning'
secrets=${SECRETS:-/run/secrets}
here=$(dirname "$0")
PGPASSWORD=$(cat "$secrets/postgres_password")
FLOTILLA_PASSWORD=$(cat "$secrets/database_password")
TEMPORAL_PASSWORD=$(cat "$secrets/temporal_password")
export PGPASSWORD FLOTILLA_PASSWORD TEMPORAL_PASSWORD

as() {
  user=$1 database=$2
  shift 2
  psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --username "$user" --dbname "$database" "$@"
}

if ! as postgres postgres --command 'select 1' > /dev/null 2>&1; then
  # A role cannot rename itself, and the first one stays a superuser: it becomes postgres, through an intermediate role.
  as flotilla postgres <<'SQL'
\getenv password PGPASSWORD
drop role if exists flotilla_upgrade;
create role flotilla_upgrade superuser login password :'password';
SQL
  as flotilla_upgrade postgres <<'SQL'
\getenv password PGPASSWORD
begin;
alter role flotilla rename to postgres;
alter role postgres password :'password';
commit;
SQL
fi

as postgres postgres <<'SQL'
\getenv flotilla FLOTILLA_PASSWORD
\getenv temporal TEMPORAL_PASSWORD
drop role if exists flotilla_upgrade;
select format('create role %I', name) from unnest(array['flotilla', 'temporal']) name
where not exists (select from pg_roles where rolname = name) \gexec
alter role flotilla login nosuperuser nocreatedb nocreaterole password :'flotilla';
alter role temporal login nosuperuser nocreatedb nocreaterole password :'temporal';
-- A function of its schema carries this setting.
grant set on parameter flotilla.forgets_events to flotilla;
select format('create database %I owner %I', name, owner)
from (values ('flotilla', 'flotilla'), ('temporal', 'temporal'), ('temporal_visibility', 'temporal')) wanted(name, owner)
where not exists (select from pg_database where datname = name) \gexec
SQL

for pair in flotilla:flotilla temporal:temporal temporal_visibility:temporal; do
  as postgres "${pair%:*}" --command "set flotilla.owner = '${pair#*:}'" --file "$here/take-ownership.sql"
done
echo "the roles flotilla and temporal own their databases"
