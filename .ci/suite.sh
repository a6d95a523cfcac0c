#!/usr/bin/env bash
# suite.sh COMMAND…: runs a suite of tests ("npm test", "npm run test:browser"), with SUITE_FILTER only some of its files. Where a few
# files failed, these are run once more when the others are over, so without their company. What fails then has failed; what
# passes then is named at the end of the run as what needed a second try.
set -euo pipefail
again="$(mktemp)" failures="$(mktemp)"
named="${FAILURES_FILE:-/dev/null}"
export TRY_AGAIN_FILE="$again" FAILURES_FILE="$failures"
trap 'rm -f "$again" "$failures"' EXIT

status=0
"$@" ${SUITE_FILTER:+-- "$SUITE_FILTER"} || status=$?
mapfile -t files <"$again"
if ((${#files[@]} == 0)); then
  cat "$failures" >>"$named"
  exit "$status"
fi

printf '\n%s\n' "Once more, alone: ${files[*]}"
sed 's/^failed:/needed a second try:/' "$failures" >>"$named"
: >"$failures"
unset TRY_AGAIN_FILE
status=0
"$@" -- "${files[@]}" || status=$?
cat "$failures" >>"$named"
exit "$status"
