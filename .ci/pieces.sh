# shellcheck shell=bash
# The pieces of which .ci/run and .ci/nightly are made: each is a function that runs its steps one after the other. Nothing runs beside
# a step, and nothing is tried again: what failed once is a defect of the test or of the product.

# shellcheck source=.ci/steps.sh
source .ci/steps.sh

CI_DIR="$(mktemp -d)"
export CI_DIR CI=true NO_COLOR=1
trap '.ci/stop-docker.sh || true; rm -rf "$CI_DIR" "$STEP_LOG" "$STEP_TIMES"' EXIT
cache="${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/rule-server-ci"
# A cache of the run's own: it also goes into the offline Node image, so that `npm ci` needs no network there.
export npm_config_cache="$cache/npm"
# A registry that falls silent in the middle is asked again; npm itself would wait for five minutes.
export npm_config_fetch_timeout=20000 npm_config_fetch_retries=4 npm_config_fetch_retry_mintimeout=1000
export RULE_SERVER_REQUIRE_ALL_SUITES=1
# Each test that failed is named here.
export FAILURES_FILE="$CI_DIR/failures"
# The same random cases every time: what fails is what changed. Every run by hand draws new ones.
export FUZZ_SEED=1
# The helper container that testcontainers starts comes from a container registry.
export TESTCONTAINERS_RYUK_DISABLED=true
export PATH="$cache/go/bin:$cache/go-programs:$PATH"

# What the change itself decides: other seeds for each tree, the same ones each time that it is run.
tree="$(git rev-parse 'HEAD^{tree}' 2>/dev/null || echo 0)"
readonly SEED="$((16#${tree:0:7}))"

prepare() {
  setup_step 'Debian packages' 600 .ci/install-packages.sh
  setup_step 'npm ci' 300 npm ci --no-audit --no-fund
}

# Redis in a container, as the tests have it everywhere; without a registry the image is made from Debian's package.
start_docker() {
  step 'Docker daemon' 180 .ci/start-docker.sh && step 'Redis image' 60 .ci/build-images.sh redis || return 0
  export REDIS_IMAGE=rule-server-redis:ci
}

lint() {
  step 'lint' 300 npm run lint || true
  step 'dependencies' 90 node .ci/audit-dependencies.js || true
  step 'lint of the shell scripts' 60 shellcheck -x .ci/run .ci/nightly .ci/*.sh || true
  step 'lists in documents' 120 bash -c 'npm run --silent lists && git diff --exit-code' || true
}

tests() { step 'npm test' 1500 npm test || true; }

# What the API and the workers ask of a queue store, on the other one.
embedded() {
  step 'journeys on the embedded store' 600 env TEST_REDIS=none RULE_SERVER_REQUIRE_ALL_SUITES=0 npm test -- "$@" || true
}
embedded_core() { embedded test/journeys/{executions,outcomes,idempotency,keyed-refusals,batches,batch-items,lifecycle}.test.ts; }
embedded_all() { embedded test/journeys; }

browser() { step 'npm run test:browser' 900 npm run test:browser || true; }
browser_all() { step 'npm run test:browser:all' 1800 npm run test:browser:all || true; }
processes() { step 'npm run test:processes' 1200 npm run test:processes || true; }
processes_all() { step 'npm run test:processes:all' 3000 npm run test:processes:all || true; }

python_sdk() { step 'the published Python SDK' 600 env SDKS=python npm run test:sdks -- test/sdks/interop.test.ts || true; }
go_is_new_enough() { [[ "$(go version 2>/dev/null)" =~ go1\.([0-9]+) ]] && ((BASH_REMATCH[1] >= 21)); }
install_go() { go_is_new_enough || step 'Go' 180 .ci/install-go.sh "$cache/go"; }
sdks() {
  install_go || true
  step 'npm run test:sdks' 1200 npm run test:sdks -- --exclude test/sdks/generated-clients.test.ts || true
}

packages_once() { step 'packages' 600 env NODES=22 npm run check:packages || true; }
packages() { step 'packages on every Node' 1200 npm run check:packages || true; }

new_seeds() { step 'new seeds' 600 npm run simulate -- --seed "$SEED" --seeds 80 --twice || true; }
simulation() {
  step 'small worlds' 2400 npm run simulate || true
  step 'mutants' 2400 npm run simulate -- --mutants || true
  step 'a thousand new seeds' 2400 npm run simulate -- --seed "$SEED" --seeds 1000 --twice || true
}

oracle() {
  step 'the smallest change against every other' 900 npm run oracle -- smallest 2500 || true
  step 'replays against the engine' 2400 npm run oracle -- replay 10000 || true
  step 'since when, against every release' 900 npm run oracle -- since 500 || true
}
compat() { step 'npm run test:compat' 600 npm run test:compat -- --exclude test/compat/generated-clients.test.ts || true; }
# Clients that are generated from the description: for TypeScript by two generators, and the lint of the description; for Go and Java.
generated_clients() {
  step 'generators for TypeScript, and redocly' 600 npm run test:compat -- test/compat/generated-clients.test.ts || true
}
generators() {
  generated_clients
  install_go || true
  step 'generators for Go and Java' 900 env SDKS=go npm run test:sdks -- test/sdks/generated-clients.test.ts || true
}
deploy() { step 'npm run test:deploy' 900 npm run test:deploy || true; }
openapi() { step 'npm run test:openapi' 900 npm run test:openapi || true; }
fuzz() { step 'npm run test:fuzz' 900 npm run test:fuzz || true; }
chaos() { step 'npm run test:chaos' 1200 npm run test:chaos || true; }
tutorials() {
  step 'the first ten minutes' 420 node .ci/getting-started.js || true
  step 'before a release' 420 node .ci/getting-started.js docs/use/before-a-release.md || true
}
chart() {
  if install_go && step 'helm and actionlint' 900 .ci/install-go-programs.sh "$cache/go-programs"; then
    step 'lint of the workflows' 60 actionlint || true
    step 'Helm chart' 180 .ci/check-chart.sh || true
  fi
}
composition() {
  if [[ -v REDIS_IMAGE ]] && step 'images' 600 .ci/build-images.sh node gateway prometheus server; then
    step 'composition' 300 .ci/run-composition.sh || true
  else
    skip_step 'composition' 'it needs Docker and the images'
  fi
}
