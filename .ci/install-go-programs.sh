#!/usr/bin/env bash
# Builds helm and actionlint into the directory given, from the Go module proxy, unless they are there. A second one waits
# for the first: it may have begun in the background.
set -euo pipefail
readonly HELM=v3.22.0 ACTIONLINT=v1.7.12

mkdir -p "$1"
exec 9>"$1/.lock"
flock 9
export GOBIN="$1" GOFLAGS=-trimpath
[[ -x "$1/helm" ]] || go install "helm.sh/helm/v3/cmd/helm@$HELM"
[[ -x "$1/actionlint" ]] || go install "github.com/rhysd/actionlint/cmd/actionlint@$ACTIONLINT"
"$1/helm" version --short
"$1/actionlint" -version | head -1
