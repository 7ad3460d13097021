#!/usr/bin/env bash
# Runs the Python tests with the lowest version of each dependency that pyproject.toml allows, in an
# environment of its own, .venv/lowest. What is not a direct dependency stays as locked where it can.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
lowest=$root/.venv/lowest
# shellcheck source=steps.sh
source "$root/tools/steps.sh"

main() {
  steps_total=2
  rm -rf "$lowest"
  step "virtual environment with the lowest versions" make_venv
  step "this checkout" "$lowest/bin/python" -m pip install --no-deps --no-build-isolation --editable "$root"
  cd "$root"
  # Without the language model, whose bounds are close around the locked versions.
  "$lowest/bin/python" -m pytest --ignore tests/packaging -m "not long and not model" "$@"
}

make_venv() {
  "$root/.venv/bin/python" -m venv "$lowest"
  "$root/.venv/bin/python" "$root/tools/lowest.py" >"$lowest/requirements.txt"
  "$lowest/bin/python" -m pip install --disable-pip-version-check -r "$lowest/requirements.txt"
}

main "$@"
