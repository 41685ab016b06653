# syntax=docker/dockerfile:1
# The service and its worker in one image: docs/installing.md. No PostgreSQL is in it: DATABASE_URL names one.
# .node-version has the same version of Node. `npm run image` builds it without a daemon, from other bases.
ARG NODE_IMAGE=docker.io/library/node:24.21.0-bookworm-slim
ARG BASE_IMAGE=docker.io/library/debian:bookworm-slim

FROM ${NODE_IMAGE} AS node

# The package as npm has it, with all code bundled; what builds it stays here. No package runs a script.
FROM node AS build
WORKDIR /src
COPY package.json package-lock.json LICENSE CHANGELOG.md ./
COPY scripts ./scripts
COPY packages ./packages
COPY docs ./docs
RUN npm ci --ignore-scripts --no-audit --no-fund \
  && node packages/console/prepare.mjs \
  && node packages/server/build.ts /image/package \
  && install -d -m 0700 /image/state/penstock \
  # Files keep the mode that they have in the clone, which may be for its user alone.
  && chmod -R a+rX /image/package

FROM scratch AS image
COPY --from=build /image /

FROM ${BASE_IMAGE}
LABEL org.opencontainers.image.title="Penstock" \
  org.opencontainers.image.description="Moves data between marketing, advertising and data platforms" \
  org.opencontainers.image.licenses="Apache-2.0"
# No organization is created at the first start: the container could lose its credentials. The ID of the container replaces CONTAINER.
ENV NODE_ENV=production \
  PENSTOCK_HOST=0.0.0.0 \
  PENSTOCK_DATA_DIR=/var/lib/penstock \
  PENSTOCK_COMMAND="docker exec CONTAINER penstock" \
  PENSTOCK_FIRST_ORGANIZATION=0
COPY --from=node /usr/local/bin/node /usr/local/bin/node
COPY --from=image /package /opt/penstock
COPY --chmod=755 deploy/container/penstock /usr/local/bin/penstock
# An empty folder of the user.
COPY --from=image --chown=1000:1000 /state /var/lib
WORKDIR /opt/penstock
USER 1000:1000
EXPOSE 8080
# A worker has no port: compose.yaml turns this off for it.
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:'+(process.env.PENSTOCK_PORT||8080)+'/readyz').then(({status})=>process.exit(status===200?0:1),()=>process.exit(1))"]
ENTRYPOINT ["penstock"]
CMD ["serve"]
