#!/usr/bin/env bash
# Installs what building and testing the VS Code extension needs, from package-lock.json.
# Running it again costs nothing while that file stays as it is.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=steps.sh
source "$root/tools/steps.sh"

main() {
  command -v node >/dev/null && command -v npm >/dev/null ||
    fail "node and npm are missing" "install Node 20 or newer, which brings both"
  node -e 'process.exit(Number(process.versions.node.split(".")[0]) < 20 ? 1 : 0)' ||
    fail "Node $(node --version) is too old" "install Node 20 or newer"
  exec 9<"${BASH_SOURCE[0]}"
  flock 9
  local key stamp_file=$root/node_modules/langwright.stamp
  key=$(digest "$(node --version)" "$(cat "$root/package-lock.json")")
  if is_stamped "$stamp_file" "$key"; then
    say "Packages of the extension: ready"
    return
  fi
  steps_total=1
  # No package that is used here needs its install script, and some would fetch programs of their own.
  step "packages of the extension ($(grep -c '"node_modules/' "$root/package-lock.json") packages)" install_packages
  stamp "$stamp_file" "$key"
}

install_packages() {
  cd "$root" && npm ci --no-audit --no-fund --no-progress --no-update-notifier --ignore-scripts
}

main "$@"
