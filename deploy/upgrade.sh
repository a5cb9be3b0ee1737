#!/bin/sh
# Upgrades what docker-compose.yml runs to the build of this checkout, in the order of docs/operations.md, "Upgrades": new containers
# beside the old ones, as many of each, and the old ones stopped once they are no longer needed. Run it again if it failed.
#
# FLOTILLA_IMAGE_TAG=<the new build> in .env, then: sh deploy/upgrade.sh
#
# Containers of another image than the one built here are old, whatever its tag.
set -eu
cd "$(dirname "$0")/.."

tagged() { docker compose config --images migrate | grep '^flotilla:'; }

# If the tag were set for this command alone, the next docker compose up would restore the previous build.
if [ "$(tagged)" != "$(unset FLOTILLA_IMAGE_TAG; tagged)" ]; then
  echo "Write FLOTILLA_IMAGE_TAG=$FLOTILLA_IMAGE_TAG into .env, where every later docker compose up finds it" >&2
  exit 1
fi

running() { docker compose ps --quiet --status running "$1"; }

old() {
  for container in $(running "$1"); do
    [ "$(docker inspect --format '{{.Image}}' "$container")" = "$image" ] || echo "$container"
  done
}

# Returns when the new containers are healthy: workers poll, the others respond.
start_beside() {
  all=$(running "$1" | wc -l)
  of_old=$(old "$1" | wc -l)
  of_new=$((all - of_old))
  if [ "$of_new" -lt "$of_old" ]; then of_new=$of_old; fi
  if [ "$all" -eq 0 ]; then of_new=1; fi
  echo "$1: $of_old old containers, $of_new new ones"
  docker compose up --detach --no-deps --no-recreate --wait --scale "$1=$((of_old + of_new))" "$1"
}

# They get the time to stop that docker-compose.yml sets.
stop_old() {
  for container in $(old "$1"); do
    docker stop "$container"
    docker rm "$container"
  done
}

docker compose build migrate
image=$(docker image inspect --format '{{.Id}}' "$(tagged)")
docker compose run --rm --no-deps migrate
docker compose run --rm --no-deps temporal-bootstrap
for service in worker-activity worker-schedule worker-report; do start_beside $service; done
docker compose run --rm --no-deps make-current node workers/set-current-version.ts --wait
for service in worker-activity worker-schedule worker-report; do stop_old $service; done
for service in api gateway; do start_beside $service; done
# The proxy knows the new ones before the old ones go.
sleep 5
for service in api gateway; do stop_old $service; done
