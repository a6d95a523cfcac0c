#!/usr/bin/env bash
# Packs the packages, has them examined, and installs each in an empty directory: a small service in JavaScript and in
# TypeScript must run a rule on every Node that is supported (or those of $NODES), `rule-server` must start and answer. Ends with
# "N passed, N failed".
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root="$PWD"
work="$(mktemp -d)"
server=''
trap '[[ -z "$server" ]] || kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
readonly MAX_CLIENT_BYTES=450000
read -ra NODES <<<"${NODES:-22 24 26}"
passed=0
failed=0

# check NAME COMMAND…: counts, and shows what a failed command said.
check() {
  local name="$1"
  shift
  if "$@" >"$work/said" 2>&1; then
    passed=$((passed + 1))
    echo "✓ $name"
  else
    failed=$((failed + 1))
    echo "✗ $name"
    cat "$work/said"
  fi
}

# A package registry may fail once.
install() { install_once "$@" || install_once "$@"; }
install_once() { npm install --prefix "$1" --no-audit --no-fund --prefer-offline --loglevel=error "${@:2}"; }
pack() { npm pack "$1" --pack-destination "$work" --loglevel=error | tail -n 1; }
says() { [[ "$("${@:2}" 2>&1)" == "$1" ]] || { "${@:2}" && return 1; }; }
is_small_enough() { (("$(tar -xzOf "$1" | wc -c)" <= MAX_CLIENT_BYTES)); }

for node in "${NODES[@]}"; do
  mkdir -p "$work/node-$node"
  (cd "$work/node-$node" && npm init -y >/dev/null && install . "node@$node" --foreground-scripts=false)
done

rules="$work/rules"
mkdir -p "$rules/1/bases" "$rules/1/confs"
echo '{"id":1,"status":1,"confId":1}' >"$rules/1/bases/1.json"
echo '{"id":1,"status":1,"type":5,"confName":"shop.SpentAtLeast","confField":"{\"min\":110}"}' >"$rules/1/confs/1.json"
export SHARED_DIR="$rules"

client_tarball="$work/$(pack ./packages/rule-server-client)"
server_tarball="$work/$(pack .)"
names_itself() { ! tar -xzOf "$1" package/README.md | grep -n 'rule-server/'; }
check 'rule-server-client: its README names its own package' names_itself "$client_tarball"
check 'rule-server-client has at most 450 KB' is_small_enough "$client_tarball"

examine() { # NAME TARBALL IMPORTED
  local name="$1" tarball="$2" imported="$3" app="$work/app-$1" node
  local -a entries=()
  [[ "$name" == rule-server ]] && entries=(--entrypoints client client/anywhere client/testing)
  check "$name: publint" npx publint --strict "$tarball"
  check "$name: are the types wrong?" npx attw "$tarball" --profile esm-only "${entries[@]}"
  mkdir "$app"
  (cd "$app" && npm init -y >/dev/null && npm pkg set type=module >/dev/null)
  check "$name: installs in an empty directory" install "$app" "$tarball" typescript @types/node
  for language in js ts; do sed "s#PACKAGE#$imported#" "$root/test/packages/service.$language" >"$app/service.$language"; done
  check "$name: the published types are enough" \
    "$app/node_modules/.bin/tsc" --noEmit --strict --module nodenext --target es2024 --types node --ignoreConfig "$app/service.ts"
  for node in "${NODES[@]}"; do
    for language in js ts; do
      check "$name: a service in $language runs on Node $node" \
        says 'TRUE 9007199254740993n' "$work/node-$node/node_modules/node/bin/node" "$app/service.$language"
    done
  done
}
installs_from_an_address() { # an address as a team's file server or artifact store has it
  local app="$work/app-address" port=$((20000 + RANDOM % 20000)) status=0
  mkdir "$app"
  (cd "$app" && npm init -y >/dev/null && npm pkg set type=module >/dev/null)
  python3 -m http.server "$port" --bind 127.0.0.1 --directory "$work" >/dev/null 2>&1 &
  local files=$!
  until (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do sleep 0.1; done
  install "$app" "http://127.0.0.1:$port/$(basename "$client_tarball")" || status=1
  kill "$files"
  sed 's#PACKAGE#rule-server-client#' "$root/test/packages/service.js" >"$app/service.js"
  ((status == 0)) && says 'TRUE 9007199254740993n' "$work/node-${NODES[0]}/node_modules/node/bin/node" "$app/service.js"
}
tests_cases() { # NODE
  local app="$work/app-rule-server"
  (cd "$app" && "$1" node_modules/.bin/rule-server test cases --leaves ./leaves.ts --rules "$rules/1" --junit out.xml) &&
    grep -q 'tests="1" failures="0"' "$app/out.xml"
}
publishes() { # SENTENCE [--dry-run]
  env "${@:3}" node bin/publish-packages.js ${2:+"$2"} 2>&1 | grep -F "$1"
}
first_hour() { .ci/first-hour.sh >"$work/first-hour" 2>&1 || { cat "$work/first-hour"; return 1; }; }
test_client() { # NAME
  CLIENT_DIST="$work/app-$1/node_modules/$1/dist" npx vitest run --config test/packages/vitest.config.ts
}
check 'a first hour with the client, from an empty project' first_hour
examine rule-server-client "$client_tarball" rule-server-client
examine rule-server "$server_tarball" rule-server/client
check 'rule-server-client: installs from an address' installs_from_an_address
mkdir "$work/app-rule-server/cases"
echo '{"app":1,"ruleId":1,"cases":[{"name":"spent enough","input":{"cost":120},"expect":{"outcome":"TRUE"}}]}' \
  >"$work/app-rule-server/cases/rule.cases.json"
cat >"$work/app-rule-server/leaves.ts" <<'END'
import { leavesFor } from 'rule-server/client';
const { flow } = leavesFor<{ cost: number }>();
export const leaves = {
  'shop.SpentAtLeast': flow({ min: 0 }, (service, { min }) => service.double('cost', 0) >= min),
};
END
for node in "${NODES[@]}"; do
  check "rule-server: cases run without a service, with leaves in TypeScript, on Node $node" \
    tests_cases "$work/node-$node/node_modules/node/bin/node"
done
check 'without a scope and a token nothing is published, and it says what is missing' \
  publishes 'Not published to npm. A person must put the scope' '' -u NODE_AUTH_TOKEN
check 'with a scope both packages can be published below it' \
  publishes 'Would publish @shop/rule-server 0.' --dry-run PACKAGE_SCOPE=@shop
check 'rule-server: the list of what it installs (SBOM) is whole' node .ci/check-sbom.js "$work/app-rule-server"
for name in rule-server-client rule-server; do check "$name: the tests of the client pass on the package" test_client "$name"; done

answers() { # URL
  local deadline=$((SECONDS + 90))
  until curl -fsS "$1/rule-server/mock/execute" -H 'content-type: application/json' \
    -d '{"app":9001,"ruleId":1,"the service":{"uid":9007199254740993,"cost":120.10}}' >"$work/answer" 2>&1; do
    ((SECONDS < deadline)) || { cat "$work/answer" "$work/server.log"; return 1; }
    sleep 0.2
  done
  grep -q '"uid":9007199254740993,"cost":120.10' "$work/answer" && grep -q '"success":true' "$work/answer"
}
shows_the_console() { curl -fsS "$1/" | grep -q '<div id="root"'; }

cli="$work/app-cli/node_modules/.bin/rule-server"
mkdir -p "$work/app-cli/cases"
(cd "$work/app-cli" && npm init -y >/dev/null && npm pkg set type=module >/dev/null)
check 'rule-server-cli: installs in an empty directory' install "$work/app-cli" "$work/$(pack ./packages/rule-server-cli)" "$client_tarball"
takes_at_most_10_mb() { (("$(du -sm "$work/app-cli/node_modules" | cut -f1)" <= 10)); }
check 'rule-server-cli: with the client, at most 10 MB are installed' takes_at_most_10_mb
cp "$work/app-rule-server/cases/rule.cases.json" "$work/app-cli/cases/"
sed 's#rule-server/client#rule-server-client#' "$work/app-rule-server/leaves.ts" >"$work/app-cli/leaves.ts"
cli_tests_cases() { (cd "$work/app-cli" && "$1" "$cli" test cases --leaves ./leaves.ts --rules "$rules/1"); }
cli_runs_a_rule() { "$1" "$cli" exec --url "$url" --app 9001 --rule-id 1 --data '{"uid":9007199254740993,"cost":120.10}'; }
cli_explains() { "$1" "$cli" explain --url "$url" "$("$1" "$cli" history --url "$url" --app 9001 --json | head -n 1 | grep -o '"mockId":"[^"]*"' | cut -d'"' -f4)"; }

for node in "${NODES[@]}"; do
  empty="$work/empty-$node"
  program="$work/node-$node/node_modules/node/bin/node"
  mkdir "$empty"
  port=$((20000 + RANDOM % 20000))
  url="http://127.0.0.1:$port"
  (cd "$empty" && exec env -u SHARED_DIR PORT="$port" "$program" "$work/app-rule-server/node_modules/.bin/rule-server" start) \
    >"$work/server.log" 2>&1 &
  server=$!
  check "rule-server start answers from an empty directory on Node $node" answers "$url"
  check "rule-server start has its console on Node $node" shows_the_console "$url"
  check "rule-server exec runs a rule on Node $node" env -u SHARED_DIR \
    "$program" "$work/app-rule-server/node_modules/.bin/rule-server" \
    exec --url "$url" --app 9001 --rule-id 1 --data '{"uid":1,"cost":120}'
  check "rule-server-cli: cases run with leaves in TypeScript on Node $node" cli_tests_cases "$program"
  check "rule-server-cli: runs a rule on Node $node" cli_runs_a_rule "$program"
  check "rule-server-cli: explains a run on Node $node" cli_explains "$program"
  kill "$server"
  wait "$server" || true
  server=''
done

cat "$work/first-hour"
echo "$passed passed, $failed failed"
((failed == 0))
