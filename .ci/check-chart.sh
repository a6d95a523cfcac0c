#!/usr/bin/env bash
# The Helm chart: linted, and everything it renders is valid for the oldest and a recent Kubernetes. What belongs to KEDA
# and the Prometheus operator has no schema there: test/deploy/helm-chart.test.ts checks it, and the settings of the pods.
set -euo pipefail
readonly CHART=deploy/helm/rule-server VERSIONS='1.27 1.34'

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check kubernetes-validate
for values in "$CHART"/ci/*.yaml; do
  helm lint --quiet "$CHART" --values "$values" --kube-version 1.34 2>/dev/null
  for version in $VERSIONS; do
    helm template rules "$CHART" --values "$values" --kube-version "$version" >"$work/rendered.yaml" 2>/dev/null
    "$work/venv/bin/kubernetes-validate" --strict --quiet --no-warn --kubernetes-version "$version" "$work/rendered.yaml"
  done
  echo "valid: $values"
done
