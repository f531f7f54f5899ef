#!/bin/sh
# Puts `whofixes` on the path of the later steps of a GitHub job: the published VERSION, or without one the package this file
# is in, built first where it is a checkout.
set -eu

node -e '
  const [major, minor] = process.versions.node.split(".").map(Number)
  process.exit(major > 20 || (major === 20 && minor >= 19) ? 0 : 1)
' || {
  echo '::error::whofixes needs Node 20.19 or newer: put actions/setup-node before it' >&2
  exit 2
}

package=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
bin=${RUNNER_TEMP:-/tmp}/whofixes-bin
mkdir -p "$bin"
if [ -n "${VERSION:-}" ]; then
  npm install --prefix "$bin" --no-audit --no-fund --no-save --ignore-scripts "whofixes@$VERSION" >&2
  program=$bin/node_modules/whofixes/dist/src/cli.js
else
  program=$package/dist/src/cli.js
  if [ ! -f "$program" ]; then
    npm ci --prefix "$package" --no-audit --no-fund --ignore-scripts >&2
    npm run --prefix "$package" build >&2
  fi
fi
printf '#!/bin/sh\nexec node "%s" "$@"\n' "$program" >"$bin/whofixes"
chmod +x "$bin/whofixes"
"$bin/whofixes" --version >&2
printf '%s\n' "$bin" >>"$GITHUB_PATH"
