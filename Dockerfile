# Flotilla's processes in one image: API and gateway (src/server/main.ts), workers (workers/main.ts), and the commands of a deploy.
# The native parts of the Temporal SDK are built for glibc: no Alpine.
ARG NODE_IMAGE=node:24-bookworm-slim

# Production dependencies, without those that npm start needs on a bare machine.
FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund \
  # The SDK ships its native part for every platform.
  && find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 \
    ! -name "$(uname -m | sed 's/arm64/aarch64/')-unknown-linux-gnu" -exec rm -r {} +

# The workflow bundle; its compiler is one of the optional dependencies.
FROM ${NODE_IMAGE} AS bundle
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund
COPY src ./src
COPY temporal ./temporal
COPY workflows ./workflows
COPY workers ./workers
RUN node workers/build-bundle.ts

# The web page, with nothing but its own packages.
FROM ${NODE_IMAGE} AS page
WORKDIR /app
COPY package.json package-lock.json tsconfig.json ./
COPY packages/client ./packages/client
COPY web ./web
RUN npm ci --workspace @flotilla/web --ignore-scripts --no-audit --no-fund
COPY src ./src
COPY tools ./tools
RUN node tools/stack/web/build-page-main.ts

FROM ${NODE_IMAGE}
ENV NODE_ENV=production \
  FLOTILLA_HOST=0.0.0.0 \
  FLOTILLA_METRICS_HOST=0.0.0.0 \
  # For npm run where only /tmp is writable.
  NPM_CONFIG_CACHE=/tmp/npm \
  NPM_CONFIG_UPDATE_NOTIFIER=false
WORKDIR /app
# The lock file is part of what identifies the build of a worker and of the page.
COPY package.json package-lock.json tsconfig.json ./
COPY --from=dependencies /app/node_modules ./node_modules
COPY src ./src
COPY temporal ./temporal
COPY workflows ./workflows
COPY workers ./workers
COPY tools ./tools
COPY packages/client ./packages/client
COPY web ./web
COPY --from=bundle /app/build ./build
COPY --from=page /app/build ./build
USER node
EXPOSE 8080 9464
# Every kind of process serves its health on its metrics port.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=6 CMD ["node", "src/process/health-check.ts"]
STOPSIGNAL SIGTERM
CMD ["node", "--max-semi-space-size=16", "src/server/main.ts"]
