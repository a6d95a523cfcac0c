#!/usr/bin/env bash
# Makes sure that a Docker daemon answers. One that this script starts leaves its process id in $CI_DIR/dockerd.pid.
set -euo pipefail
readonly LOG="$CI_DIR/dockerd.log" PID_FILE="$CI_DIR/dockerd.pid" WAIT_SECONDS=45

answers() { timeout 5 docker info >/dev/null 2>&1; }

if answers; then
  echo 'A Docker daemon is running.'
  exit 0
fi

if ! grep -q ' cgroup2\? ' /proc/mounts; then
  mount -t cgroup2 none /sys/fs/cgroup || echo 'No control groups could be mounted; trying without.'
fi

start() {
  local waited
  echo "Starting dockerd $*"
  # A session of its own: the end of this step must not end the daemon.
  setsid dockerd "$@" >"$LOG" 2>&1 </dev/null &
  echo "$!" >"$PID_FILE"
  for ((waited = 0; waited < WAIT_SECONDS; waited++)); do
    if answers; then return 0; fi
    kill -0 "$(<"$PID_FILE")" 2>/dev/null || break
    sleep 1
  done
  tail -n 20 "$LOG"
  kill -9 "$(<"$PID_FILE")" 2>/dev/null || true
  rm -f "$PID_FILE"
  return 1
}

start || {
  # Kernels without nftables need the older tool; without either, published ports still work through Docker's own proxy.
  update-alternatives --set iptables /usr/sbin/iptables-legacy && start
} || start --iptables=false --ip-masq=false
