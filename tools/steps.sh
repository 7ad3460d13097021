# Shared by the set-up scripts: progress lines, stamps, and what to say when a system package is missing.
# Sourced, never run. Expects `root` (the checkout) to be set.

steps_total=0
steps_done=0
steps_began=$SECONDS

say() { printf '%s\n' "$*" >&2; }

fail() {
  say "set-up failed: $1"
  shift
  local line
  for line in "$@"; do say "  $line"; done
  exit 1
}

# step TITLE COMMAND...: run one step of the set-up and show how far it is. What the command prints is
# shown only when it fails; what it has to tell meanwhile it writes to descriptor 3.
step() {
  local title=$1 log status=0
  shift
  steps_done=$((steps_done + 1))
  log=$(mktemp)
  say "[$steps_done/$steps_total] $title ($((SECONDS - steps_began)) s so far)"
  # In a subshell, so that a step that gives up still has its last lines shown.
  ("$@") 3>&2 >"$log" 2>&1 || status=$?
  if [ "$status" -ne 0 ]; then
    tail -n 60 "$log" >&2
    rm -f "$log"
    fail "\"$title\" ended with exit code $status; its last lines are above"
  fi
  rm -f "$log"
}

# digest WORD...: one key for everything a set-up depends on; a stamp with another key means "do it again".
digest() { printf '%s\n' "$@" | sha256sum | cut -d' ' -f1; }

# is_stamped FILE KEY: whether the set-up that KEY describes has been finished before.
is_stamped() { [ -f "$1" ] && [ "$(cat "$1")" = "$2" ]; }

stamp() { printf '%s\n' "$2" >"$1"; }

# system_packages PACKAGE...: install Debian packages, or say which are missing and how to get them.
system_packages() {
  local sudo=()
  local cure="as an administrator: apt-get update && apt-get install -y --no-install-recommends $*"
  command -v apt-get >/dev/null || fail "system packages are missing: $*" "this is not a Debian system; install what provides them there"
  if [ "$(id -u)" -ne 0 ]; then
    sudo -n true 2>/dev/null || fail "system packages are missing: $*" "$cure"
    sudo=(sudo -n)
  fi
  "${sudo[@]}" apt-get update -q &&
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" ||
    fail "system packages could not be installed: $*" "$cure"
}
