#!/usr/bin/env bash
# in-background.sh start FILE COMMAND…: runs the command beside what follows; its output goes to FILE.
# in-background.sh finish FILE: waits for its end, shows its output, and ends as it did.
set -euo pipefail

verb="$1" output="$2"
shift 2
case "$verb" in
  start)
    (
      status=0
      "$@" >"$output" 2>&1 || status=$?
      times >"$output.times"
      printf 'of the processors, user and system: %s\n' "$(sed -n 2p "$output.times")" >>"$output"
      echo "$status" >"$output.status"
    ) >/dev/null 2>&1 &
    ;;
  finish)
    until [[ -e "$output.status" ]]; do sleep 1; done
    cat "$output"
    exit "$(<"$output.status")"
    ;;
esac
