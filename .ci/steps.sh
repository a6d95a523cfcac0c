# shellcheck shell=bash
# Runs the steps of a continuous integration run: a header, the elapsed seconds, the seconds of processor and a time limit for each, one
# closing line. On two processors a run cannot be shorter than half of what all steps take of them.

readonly RUN_LIMIT_SECONDS="${RUN_LIMIT_SECONDS:-4500}"
SUMMARY=()
PASSED=0
FAILED=0
STEP_LOG="$(mktemp)"
STEP_TIMES="$(mktemp)"

# step NAME LIMIT_SECONDS COMMAND…: runs the command; a failure is counted and the run goes on.
step() {
  local name="$1" limit="$2" started="$SECONDS" status=0 left named cpu
  shift 2
  left=$((RUN_LIMIT_SECONDS - SECONDS))
  printf '\n===== %s (at %d s) =====\n' "$name" "$SECONDS"
  if ((left < 1)); then
    skip_step "$name" "the run has used its $RUN_LIMIT_SECONDS seconds"
    return 1
  fi
  named="$(failures_named)"
  count_cpu
  cpu="$CPU_SECONDS"
  # The output must reach the reader at once and be counted afterwards.
  timeout --kill-after=20 "$((limit < left ? limit : left))" "$@" 2>&1 | tee "$STEP_LOG" || status=$?
  count_tests "$status"
  count_cpu
  record "$name" "$status" "$((SECONDS - started))" "$((CPU_SECONDS - cpu))"
  if ((status != 0 && $(failures_named) == named)); then name_failure "$name"; fi
  return "$((status != 0))"
}

# Sets CPU_SECONDS to what the steps so far took of the processors. Not for $(…): a subshell has no children yet.
count_cpu() {
  times >"$STEP_TIMES"
  CPU_SECONDS="$(awk -F '[ms ]+' 'NR == 2 { print int(60 * ($1 + $3) + $2 + $4) }' "$STEP_TIMES")"
}

failures_named() { wc -l 2>/dev/null <"${FAILURES_FILE:-/dev/null}" || echo 0; }

# name_failure NAME: what a step said that is no suite of vitest, which names its failures itself: what it marked, or else its last words.
name_failure() {
  [[ -n "${FAILURES_FILE:-}" ]] || return 0
  {
    printf 'failed: %s\n' "$1"
    { grep -E -A 8 '^(✗|NOT NOTICED|broken:)' "$STEP_LOG" || tail -n 12 "$STEP_LOG"; } | head -n 40 | cut -c 1-300 | sed 's/^/  /'
  } >>"$FAILURES_FILE"
}

# setup_step …: as step, but nothing after it makes sense when it fails.
setup_step() {
  step "$@" || finish
}

# skip_step NAME REASON: what could not be run has not passed.
skip_step() {
  printf 'not run: %s: %s\n' "$1" "$2"
  FAILED=$((FAILED + 1))
  SUMMARY+=("not run  $1")
}

# Test programs end with "N passed, N failed"; a step without such a line counts as one.
count_tests() {
  local status="$1" passed failed
  read -r passed failed < <(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed.*/\1 \2/p' "$STEP_LOG" |
    awk '{ passed += $1; failed += $2 } END { print passed + 0, failed + 0 }')
  if ((status == 0 && passed == 0)); then passed=1; fi
  if ((status != 0 && failed == 0)); then failed=1; fi
  PASSED=$((PASSED + passed))
  FAILED=$((FAILED + failed))
}

record() {
  local name="$1" status="$2" seconds="$3" cpu="$4" word=ok
  ((status == 0)) || word=FAILED
  if ((status == 124 || status == 137)); then word='FAILED (time limit)'; fi
  printf '%s: %s after %d s\n' "$name" "$word" "$seconds"
  SUMMARY+=("$(printf '%5d s %5d s of processor  %s  %s' "$seconds" "$cpu" "$word" "$name")")
}

# Prints what happened and ends the run: 0 only when nothing failed.
finish() {
  printf '\n===== summary (%d s) =====\n' "$SECONDS"
  printf '%s\n' "${SUMMARY[@]}"
  if [[ -s ${FAILURES_FILE:-} ]]; then
    printf '\nEach of these is a defect of the test or of the product:\n'
    cat "$FAILURES_FILE"
  fi
  printf '%d passed, %d failed\n' "$PASSED" "$FAILED"
  exit "$((FAILED != 0))"
}
