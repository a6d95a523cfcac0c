#!/usr/bin/env bash
# Brings the whole composition up, with the images that build-images.sh and `docker build` have made, makes one call through
# the gateway, lets Prometheus look at it, and takes everything down again. Shows the logs when something is wrong. Grafana
# is not started: it comes from a container registry only.
set -euo pipefail

compose() {
  if docker compose version >/dev/null 2>&1; then docker compose "$@"; else docker-compose "$@"; fi
}

shared="$(mktemp -d)"
export COMPOSE_PROJECT_NAME=rule-server-ci
export RULE_SERVER_IMAGE=rule-server:ci NODE_IMAGE=rule-server-node:ci
export REDIS_IMAGE=rule-server-redis:ci GATEWAY_IMAGE=rule-server-gateway:ci PROMETHEUS_IMAGE=rule-server-prometheus:ci
export ALLOW_ANONYMOUS=1 # it is reached from this machine only
export SHARED_DIR="$shared" RULE_SERVER_USER=12345:1000 GATEWAY_PORT="${GATEWAY_PORT:-18080}" PROMETHEUS_PORT="${PROMETHEUS_PORT:-19091}"

take_down() {
  local status=$?
  ((status == 0)) || compose --profile demo --profile metrics logs --no-color --tail 30
  compose --profile demo --profile metrics down --volumes --remove-orphans || status=1
  rm -rf "$shared"
  exit "$status"
}
trap take_down EXIT

expect() {
  local what="$1" wanted="$2" found="$3"
  if [[ $found == "$wanted" ]]; then
    echo "ok: $what"
  else
    echo "wrong: $what: expected <$wanted>, found <$found>"
    return 1
  fi
}

docker image inspect "$PROMETHEUS_IMAGE" >/dev/null 2>&1 || .ci/build-images.sh prometheus
compose --profile demo --profile metrics config --quiet
compose --profile demo up -d --no-build --scale api=2 --scale worker=2
compose --profile metrics up -d --no-build --no-deps prometheus
compose --profile demo --profile metrics ps
node .ci/call-through-gateway.js "http://127.0.0.1:$GATEWAY_PORT"
# Both instances must get calls: the gateway names the one it chose.
for _ in 1 2 3; do node .ci/call-through-gateway.js "http://127.0.0.1:$GATEWAY_PORT" >/dev/null; done

expect 'calls reach both API instances' 2 \
  "$(compose logs --no-color gateway | grep 'POST /rule-server/mock/execute' | grep -oE 'ready/api[0-9]+' | sort -u | wc -l)"
for container in $(compose ps -q api); do
  expect 'an API instance has its keys, its audit and the password of Redis, and not the shared directory' '/audit /keys /run/redis' \
    "$(docker inspect --format '{{range .Mounts}}{{println .Destination}}{{end}}' "$container" | sort | xargs)"
  expect 'an API instance is not root' "$RULE_SERVER_USER" "$(docker inspect --format '{{.Config.User}}' "$container")"
done
redis="$(compose ps -q redis)"
expect 'Redis answers nobody without its password' 'NOAUTH Authentication required.' \
  "$(docker exec "$redis" redis-cli get anything 2>&1 | head -n 1)"
expect 'Redis is in a network of its own with the APIs and the workers' 5 \
  "$(docker network inspect --format '{{len .Containers}}' "${COMPOSE_PROJECT_NAME}_store")"
for service in gateway api worker redis; do
  expect "$service has a bound for memory, processes and logs, and changes nothing" 'true 200 20m' \
    "$(docker inspect --format '{{.HostConfig.ReadonlyRootfs}} {{.HostConfig.PidsLimit}} {{index .HostConfig.LogConfig.Config "max-size"}}' \
      "$(compose ps -q "$service" | head -n 1)")"
done
expect 'what the worker writes belongs to the user it runs as' "$RULE_SERVER_USER" "$(stat -c %u:%g "$shared/mock/9001")"
# As docs/use/cases.md says for a pipeline: the command line out of the image, in the folder of somebody's cases.
tested="$(docker run --rm --network host --volume "$PWD/examples:/work:ro" --workdir /work \
  --env RULE_SERVER_URL="http://127.0.0.1:$GATEWAY_PORT" "$RULE_SERVER_IMAGE" test demo.cases.yaml --target lane:beta)"
expect 'the command line in the image runs the cases of a mounted folder' '4 passed' "$(grep -o '4 passed' <<<"$tested")"
# 80 calls a second while every worker and every API is replaced: none is refused.
node .ci/steady-load.js "http://127.0.0.1:$GATEWAY_PORT" 80 &
load=$!
sleep 2
before="$(compose ps -q worker api | sort)"
deploy/replace.sh
sleep 2
kill "$load"
refused=0
wait "$load" || refused=1
expect 'no call was refused while the workers and APIs were replaced' 0 "$refused"
expect 'every worker and every API is another one' '' "$(comm -12 <(echo "$before") <(compose ps -q worker api | sort))"
expect 'there are as many as before' 4 "$(compose ps -q worker api | wc -l)"
expect 'the gateway logs a server that comes or goes once' '' \
  "$(compose logs --no-color --no-log-prefix gateway 2>/dev/null | grep -E 'Server .* is (UP|DOWN)' | uniq -d | head -n 1)"
node .ci/look-through-prometheus.js "http://127.0.0.1:$PROMETHEUS_PORT"
expect 'every container is healthy' '' \
  "$(docker ps --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME" --filter health=unhealthy --format '{{.Names}}')"
# The Redis password and the input of call-through-gateway.js: no container may have written them.
secrets="$(docker exec "$(compose ps -q api | head -n 1)" cat /run/redis/password)"$'\n''an input that no log may show'
expect 'no container logged the input of a call, or the password of Redis' 0 \
  "$(compose --profile demo --profile metrics logs --no-color 2>&1 | grep -cF "$secrets")"
