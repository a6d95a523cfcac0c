#!/usr/bin/env bash
# Installs Go into the directory given, from the Go module proxy: Debian 12's own package is older than the Go SDK allows.
set -euo pipefail
readonly VERSION=go1.26.8 SHA256=30c2b1bf7dcc88d3eb0a1364e47ddd9128edb3110a30e8a0ef61cd5856b31de7
readonly DIRECTORY="$1"

if [[ "$("$DIRECTORY/bin/go" version 2>/dev/null)" == *"$VERSION "* ]]; then exit 0; fi
if [[ "$(dpkg --print-architecture)" != amd64 ]]; then
  echo 'Go is fetched for amd64 only; on other machines install Go 1.21 or later first.'
  exit 1
fi

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
name="v0.0.1-$VERSION.linux-amd64"
# Debian's own Go is too old, but knows where modules come from.
command -v go >/dev/null || apt-get install --yes --no-install-recommends golang-go >/dev/null
proxy="${GOPROXY:-$(go env GOPROXY)}"
curl --fail --silent --show-error --location --retry 3 --output "$work/go.zip" \
  "${proxy%%[,|]*}/golang.org/toolchain/@v/$name.zip"
echo "$SHA256  $work/go.zip" | sha256sum --check --quiet
busybox unzip -q "$work/go.zip" -d "$work"
rm -rf "$DIRECTORY"
mkdir -p "$(dirname "$DIRECTORY")"
mv "$work/golang.org/toolchain@$name" "$DIRECTORY"
# The archive carries no permissions.
chmod +x "$DIRECTORY"/bin/* "$DIRECTORY"/pkg/tool/*/*
"$DIRECTORY/bin/go" version
