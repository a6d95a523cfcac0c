#!/usr/bin/env bash
# build-images.sh IMAGE…: makes the base images redis, node, gateway and prometheus from what is installed on this machine, where no container
# registry can be reached. Each stands in for the official image of docker-compose.yml or the Dockerfile. server is the project's own.
set -euo pipefail

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

# Copies programs with the libraries they load, keeping their paths.
copy_programs() {
  cp -L --parents "$@" "$root"
  copy_libraries_of "$@"
}

copy_libraries_of() {
  local program library
  for program in "$@"; do
    for library in $(ldd "$program" 2>/dev/null | grep -oE '/[^ ]+'); do
      cp -L --parents "$library" "$root"
    done
  done
}

# import TAG INSTRUCTION…
import() {
  local tag="$1" changes=() instruction
  shift
  for instruction in "$@"; do changes+=(--change "$instruction"); done
  tar -C "$root" -c . | docker import "${changes[@]}" - "$tag" >/dev/null
  docker image inspect --format "$tag: {{.Size}} bytes" "$tag"
}

redis() {
  copy_programs /usr/bin/redis-server /usr/bin/redis-cli
  mkdir -p "$root/data"
  # The user of the official image, as the composition has it. A new volume takes the owner of the directory.
  chown 999:1000 "$root/data"
  import rule-server-redis:ci 'ENV PATH=/usr/bin' 'WORKDIR /data' 'EXPOSE 6379' 'ENTRYPOINT ["redis-server"]'
}

gateway() {
  copy_programs /usr/sbin/haproxy
  mkdir -p "$root/tmp"
  import rule-server-gateway:ci 'ENV PATH=/usr/sbin' 'USER 99:99'
}

# Debian keeps the files of its pages apart from the program.
prometheus() {
  copy_programs /usr/bin/prometheus
  cp -R --parents /usr/share/prometheus "$root"
  mkdir -p "$root/prometheus" "$root/etc/prometheus" "$root/tmp"
  # A new volume takes the owner of the directory it is mounted over.
  chown 65534:65534 "$root/prometheus"
  import rule-server-prometheus:ci 'USER 65534:65534' 'WORKDIR /prometheus' 'EXPOSE 9090' 'ENTRYPOINT ["/usr/bin/prometheus"]'
}

# The pinned Node of this checkout, npm with the packages it has already fetched, and a shell.
node() {
  local node_binary npm_directory applet
  node_binary="$(readlink -f node_modules/node/bin/node)"
  npm_directory="$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")"
  copy_programs "$node_binary" /bin/busybox /etc/ssl/certs/ca-certificates.crt
  # What a full distribution has and the build of the console loads.
  copy_libraries_of node_modules/@rolldown/binding-linux-*-gnu/*.node node_modules/lightningcss-linux-*-gnu/*.node
  mkdir -p "$root"/{tmp,root,usr/bin,usr/local/bin,usr/local/lib/node_modules,opt}
  chmod 1777 "$root/tmp"
  mv "$root$node_binary" "$root/usr/local/bin/node"
  for applet in $(busybox --list); do
    [[ -e $root/bin/$applet ]] || ln -s busybox "$root/bin/$applet"
  done
  ln -s /bin/env "$root/usr/bin/env"
  cp -R "$npm_directory" "$root/usr/local/lib/node_modules/npm"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
  cp -R "${npm_config_cache:?}" "$root/opt/npm-cache"
  printf 'root:x:0:0:root:/root:/bin/sh\nnode:x:1000:1000:node:/tmp:/bin/sh\n' >"$root/etc/passwd"
  printf 'root:x:0:\nnode:x:1000:\n' >"$root/etc/group"
  import rule-server-node:ci 'ENV PATH=/usr/local/bin:/usr/bin:/bin' 'ENV npm_config_cache=/opt/npm-cache' 'CMD ["node"]'
}

server() {
  docker build --network none --tag rule-server:ci --build-arg NODE_IMAGE=rule-server-node:ci \
    --build-arg "NPM_CONFIG_REGISTRY=$(npm config get registry)" .
}

for image in "$@"; do
  root="$work/$image"
  mkdir "$root"
  "$image"
done
