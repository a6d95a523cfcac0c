# Any image with Node 22.22 or newer, npm and sh: node:26-alpine, node:26-slim, a company's own.
ARG NODE_IMAGE=node:26-alpine

FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
# A registry mirror, when the build machine needs one. Not kept in the final image.
ARG NPM_CONFIG_REGISTRY
COPY package.json package-lock.json ./
# No package the server uses needs its install script.
# An image can send traces: the optional peers become dependencies, in the versions of the lockfile.
RUN node -e 'const fs = require("fs"), { peerDependencies, peerDependenciesMeta, devDependencies, ...own } = JSON.parse(fs.readFileSync("package.json")); \
      fs.writeFileSync("package.json", JSON.stringify({ ...own, dependencies: { ...own.dependencies, ...peerDependencies } }))' \
 && npm install --ignore-scripts --prefer-offline --no-audit --no-fund

# Node runs the server's TypeScript as it is; only the console has to be built.
FROM dependencies AS console
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --prefer-offline --no-audit --no-fund
COPY tsconfig.json ./
COPY bin bin
COPY src src
COPY README.md ARCHITECTURE.md CHANGELOG.md CONTRIBUTING.md SECURITY.md ./
COPY docs docs
RUN node bin/build-console.js

FROM ${NODE_IMAGE}
ARG VERSION=unreleased
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Rule server" \
      org.opencontainers.image.description="Press Run in a web page and see what a business rule does on a real, remote client" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
WORKDIR /app
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=8080 \
    WORKER_PORT=9090 \
    SHARED_DIR=/data
# The group may write and new directories keep the group: a client that runs as another user answers here too. At the root the
# sticky bit keeps it from putting another folder in the place of the workers' own.
RUN mkdir -p /data/mock /data/clients /audit /keys \
 && chown -R 1000:1000 /data /audit \
 && chmod 3775 /data \
 && chmod 2775 /data/mock /data/clients
COPY --from=dependencies /app/node_modules node_modules
COPY package.json ./
COPY deploy/healthcheck.js deploy/healthcheck.js
COPY bin bin
COPY src src
COPY --from=console /app/dist/console dist/console
# A number, so that a platform that insists on "not root" can see that it is not.
USER 1000:1000
EXPOSE 8080 9090
HEALTHCHECK --interval=5s --timeout=5s --start-period=30s --retries=3 CMD ["node", "deploy/healthcheck.js"]
# Stop an API with more patience than Docker's 10 s (`docker stop --time 85`): it lets open calls end for up to 75 s.
# Absolute, so that a pipeline can run it in its own folder (`--workdir /work … test cases/`).
ENTRYPOINT ["node", "/app/bin/rule-server.js"]
CMD ["all"]
