#!/usr/bin/env bash
# simulate.sh SEED: takes guards out of the code, each of which must be noticed, then searches simulated worlds from this seed on.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly SEED="$1" MINUTES="${SIMULATED_MINUTES:-10}"

npm run simulate -- --mutants
npm run simulate -- --seed "$SEED" --minutes "$MINUTES" --twice
