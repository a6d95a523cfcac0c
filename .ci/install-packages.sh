#!/usr/bin/env bash
# Installs the Debian packages whose programs are missing. Nothing is started: a service would take the ports tests use.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive

missing=()
# need PACKAGE COMMAND…: the package is installed unless the command succeeds.
need() {
  local package="$1"
  shift
  "$@" >/dev/null 2>&1 || missing+=("$package")
}
has_package() { node -e 'process.exit(process.argv[1] in require("./package.json").devDependencies ? 0 : 1)' "$1"; }

need redis-server command -v redis-server
need redis-tools command -v redis-cli
need openssl command -v openssl
need haproxy command -v haproxy
need docker.io command -v dockerd
need docker-compose command -v docker-compose
need iptables command -v iptables
need busybox-static busybox true
need ca-certificates test -s /etc/ssl/certs/ca-certificates.crt
need prometheus command -v promtool
need bindfs command -v bindfs
need sshfs command -v sshfs
need python3-fusepy /usr/bin/python3 -c 'import fusepy'
need openssh-sftp-server test -x /usr/lib/openssh/sftp-server
need glusterfs-server command -v glusterfsd
need strace command -v strace
need shellcheck command -v shellcheck
need curl command -v curl
if [[ -d test/sdks ]]; then
  need python3-venv python3 -c 'import ensurepip, venv'
  need default-jdk-headless command -v javac
  need maven command -v mvn
fi
if has_package playwright-core; then
  need chromium-headless-shell command -v chromium-headless-shell
fi

if ((${#missing[@]} == 0)); then
  echo 'Everything is installed.'
  exit 0
fi

policy=/usr/sbin/policy-rc.d
if [[ ! -e $policy ]]; then
  trap 'rm -f "$policy"' EXIT
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod +x "$policy"
fi
# Third-party sources of the machine may be out of reach; what matters is whether the install works.
apt-get -qq -o Acquire::Retries=3 update || echo 'apt-get update reported errors; going on with what it could read.'
# The whole browser costs a third more time, and is there on every Debian.
apt-cache show chromium-headless-shell >/dev/null 2>&1 || missing=("${missing[@]/#chromium-headless-shell/chromium}")
apt-get -qq -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 install --yes --no-install-recommends "${missing[@]}"
