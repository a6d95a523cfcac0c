#!/usr/bin/env bash
# A team's first hour with the Node client, by a machine: packs it, installs the tarball in an empty TypeScript project, type-checks
# a service, runs a rule, tests the rule, and says how long each step took.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root="$PWD"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

# timed NAME COMMAND…: prints how long it took; shows what a failed command said.
timed() {
  local name="$1" began="$EPOCHREALTIME"
  shift
  if ! "$@" >"$work/said" 2>&1; then
    cat "$work/said"
    echo "✗ $name"
    exit 1
  fi
  awk -v name="$name" -v from="$began" -v to="$EPOCHREALTIME" 'BEGIN { printf "%7.1f s  %s\n", to - from, name }'
}
pack() { npm pack ./packages/rule-server-client --pack-destination "$work" --loglevel=error; }
create() { mkdir "$work/app" && cd "$work/app" && npm init -y && npm pkg set type=module; }
# A package registry may fail once.
install() { install_once || install_once; }
install_once() {
  npm install --prefix "$work/app" --no-audit --no-fund --prefer-offline --loglevel=error \
    "$work"/rule-server-client-*.tgz typescript@7 @types/node@26
}
write_rule() {
  mkdir -p "$work/app/rules/1/bases" "$work/app/rules/1/confs"
  echo '{"id":1,"status":1,"confId":1}' >"$work/app/rules/1/bases/1.json"
  echo '{"id":1,"status":1,"type":5,"confName":"shop.SpentAtLeast","confField":"{\"min\":110}"}' >"$work/app/rules/1/confs/1.json"
}
write_service() {
  local file
  for file in service.ts rule.test.ts; do
    sed 's#PACKAGE#rule-server-client#' "$root/test/packages/$file" >"$work/app/$file"
  done
}
check_types() {
  cd "$work/app" && npx tsc --noEmit --strict --module nodenext --target es2024 --types node --ignoreConfig service.ts rule.test.ts
}
run_service() { cd "$work/app" && SHARED_DIR=rules "$root/node_modules/.bin/node" service.ts | grep -x 'TRUE 9007199254740993n'; }
run_test() { cd "$work/app" && "$root/node_modules/.bin/node" --test rule.test.ts; }

timed 'pack the client' pack
timed 'make an empty TypeScript project' create
timed 'install the tarball' install
timed 'write a rule' write_rule
timed 'write a service and a test' write_service
timed 'check its types' check_types
timed 'run a rule in the service' run_service
timed 'test the rule' run_test
