#!/bin/sh
# A complete client in shell: answers the executions of one app with their own input. Stop it with Ctrl+C.
# usage: examples/client.sh [shared directory] [app] [address]
mock="${1:-./rule-data}/mock/${2:-1}/${3:-shell}"
mkdir -p "$mock" && echo "answering in $mock"
trap 'rm -rf "$mock"; exit' INT TERM

while sleep 1; do
  for request in "$mock"/*.json; do
    case $request in *_result.json | *'*'*) continue ;; esac
    id=$(basename "$request" .json)
    text=$(tr '\n\r' '  ' <"$request")
    rm "$request" || continue # taking it: a request that cannot be deleted was withdrawn
    data=${text#*'"the service":'} # the first one is the request's own, and the last target
    data=${data%',"target":'*}
    result="$mock/${id}_result.json"
    printf '{"mockId":"%s","success":true,"the service":%s,"process":null,"error":null,"executeAt":%s000}' \
      "$id" "$data" "$(date +%s)" >"$result.tmp"
    mv "$result.tmp" "$result" # complete the moment it appears
  done
done
