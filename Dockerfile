# syntax=docker/dockerfile:1
# The service and its worker in one image: docs/installing.md. No PostgreSQL is in it: DATABASE_URL names one.
# .node-version has the same version of Node.
ARG NODE_IMAGE=docker.io/library/node:24.21.0-slim

# The console is built with the development dependencies, which stay here.
FROM ${NODE_IMAGE} AS console
WORKDIR /opt/penstock
COPY package.json package-lock.json ./
COPY packages ./packages
RUN npm ci --ignore-scripts --no-audit --no-fund \
  && node packages/console/prepare.mjs

# Optional dependencies are the embedded PostgreSQL and a faster cipher for SFTP, which would be compiled. No package runs a
# script, so the npm package of Node installs none: the one of the image is used. Of DuckDB, the modules for browsers stay away.
FROM ${NODE_IMAGE} AS dependencies
WORKDIR /opt/penstock
COPY package.json package-lock.json ./
COPY packages ./packages
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund \
  && find packages -name "*.test.ts" -delete \
  && rm -rf packages/*/test \
  && find node_modules/@duckdb/duckdb-wasm/dist -maxdepth 1 -type f \
    ! -name duckdb-eh.wasm ! -name duckdb-node-blocking.cjs -delete
COPY LICENSE ./
COPY docs ./docs
# Files keep the mode that they have in the clone, which may be for its user alone.
RUN chmod -R a+rX .

FROM ${NODE_IMAGE}
LABEL org.opencontainers.image.title="Penstock" \
  org.opencontainers.image.description="Moves data between marketing, advertising and data platforms" \
  org.opencontainers.image.licenses="Apache-2.0"
ENV NODE_ENV=production \
  PENSTOCK_HOST=0.0.0.0 \
  PENSTOCK_DATA_DIR=/var/lib/penstock
WORKDIR /opt/penstock
COPY --from=dependencies /opt/penstock ./
COPY --from=console /opt/penstock/packages/console/dist ./packages/console/dist
RUN install -d -o node -g node -m 0700 /var/lib/penstock \
  && ln -s /opt/penstock/packages/server/bin/penstock.js /usr/local/bin/penstock
USER node
EXPOSE 8080
# A worker has no port: compose.yaml turns this off for it.
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:'+(process.env.PENSTOCK_PORT||8080)+'/readyz').then(({status})=>process.exit(status===200?0:1),()=>process.exit(1))"]
ENTRYPOINT ["node", "/opt/penstock/packages/server/bin/penstock.js"]
CMD ["serve"]
