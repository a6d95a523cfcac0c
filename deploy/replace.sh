#!/usr/bin/env bash
# Replaces the workers and the APIs of a running composition, one container at a time, and refuses no call meanwhile:
#
#   deploy/replace.sh               the workers, then the APIs: the order of an upgrade
#   deploy/replace.sh api worker    the other way round: back to an older version
#
# Each new container has the image and the settings of now. It is there before an old one is asked to stop; an API that is
# asked to stop still takes calls until the gateway has noticed (SHUTDOWN_DELAY_MS), and then ends those that are open.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly HEALTHY_WITHIN_SECONDS=60

compose() {
  if docker compose version >/dev/null 2>&1; then docker compose "$@"; else docker-compose "$@"; fi
}

health_of() { docker inspect --format '{{.State.Health.Status}}' "$1"; }

wait_until_healthy() {
  local container="$1" waited
  for ((waited = 0; waited < HEALTHY_WITHIN_SECONDS; waited++)); do
    if [[ $(health_of "$container") == healthy ]]; then return 0; fi
    sleep 1
  done
  echo "$container is not healthy after $HEALTHY_WITHIN_SECONDS s; the old containers are left as they are" >&2
  return 1
}

replace() {
  local service="$1" old new containers
  mapfile -t containers < <(compose ps -q "$service")
  for old in "${containers[@]}"; do
    compose up -d --no-build --no-deps --no-recreate --scale "$service=$((${#containers[@]} + 1))" "$service"
    for new in $(compose ps -q "$service"); do wait_until_healthy "$new"; done
    # It may take as long as stop_grace_period says: open calls end with their answer.
    docker stop "$old" >/dev/null
    docker rm "$old" >/dev/null
    echo "$service: replaced ${old:0:12}"
  done
}

if (($# == 0)); then set -- worker api; fi
for service in "$@"; do replace "$service"; done
