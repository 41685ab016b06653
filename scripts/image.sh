#!/usr/bin/env bash
# `npm run image -- archive [directory]`: builds the image of the Dockerfile without a daemon and without a registry of images, into an archive
# that `docker load`, `podman load` and `skopeo` read. It needs buildah and mmdebstrap of Debian, and root. The base is
# made of a few packages of Debian: no shell is in it. The directory is a built package; without one it is built.
set -euo pipefail
archive=$(realpath -m "$1")
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
version=$(node -p 'require(process.argv[1]).version' "$root/package.json")

base=$root/.cache/image-base.tar
if [ ! -f "$base" ]; then
  # The name must end with .tar: mmdebstrap would make a folder otherwise.
  mkdir -p "$(dirname "$base")"
  mmdebstrap --quiet --variant=extract --include=base-files,libc6,libstdc++6,libgcc-s1,tzdata,ca-certificates bookworm "$work/base.tar"
  mv "$work/base.tar" "$base"
fi

mkdir -p "$work/image/state" "$work/node/usr/local/bin" "$work/base"
install -d -m 0700 "$work/image/state/penstock"
if [ -n "${2:-}" ]; then cp -r "$2" "$work/image/package"; else
  npm run --silent --prefix "$root" build
  node "$root/packages/server/build.ts" "$work/image/package"
fi
chmod -R a+rX "$work/image/package"
cp --dereference "$(node -p process.execPath)" "$work/node/usr/local/bin/node"
tar -xf "$base" -C "$work/base" --exclude './dev/*' --exclude './usr/share/doc/*' --exclude './usr/share/man/*'

builder() { buildah --root "$work/storage" --runroot "$work/run" --storage-driver vfs "$@"; }
container=$(builder from scratch)
builder add --quiet "$container" "$work/base" / >/dev/null
builder commit --quiet "$container" localhost/penstock-base >/dev/null
builder build --quiet --build-context "image=$work/image" --build-context "node=$work/node" \
  --build-arg BASE_IMAGE=localhost/penstock-base --format docker --label "org.opencontainers.image.version=$version" \
  --file "$root/Dockerfile" --tag "localhost/penstock:$version" "$root" >/dev/null
rm -f "$archive"
builder push --quiet "localhost/penstock:$version" "docker-archive:$archive:penstock:$version"
