#!/usr/bin/env bash
# Ends the Docker daemon that start-docker.sh has started, and no other.
set -euo pipefail
readonly PID_FILE="$CI_DIR/dockerd.pid"

if [[ ! -e $PID_FILE ]]; then exit 0; fi
pid="$(<"$PID_FILE")"
kill "$pid" 2>/dev/null || exit 0
for _ in {1..30}; do
  kill -0 "$pid" 2>/dev/null || exit 0
  sleep 1
done
kill -9 "$pid"
