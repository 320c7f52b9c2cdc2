#!/bin/sh
# Says which of the three prerequisites (Python, Rust, Node) is missing or too old, and how to get it; prints nothing when all is well.
#   scripts/prerequisites.sh                 check; exit status 1 when something is missing
#   scripts/prerequisites.sh --print-python  the name of the newest suitable Python interpreter
# Wanted versions: Python as in pyproject.toml, Rust as in Cargo.toml, Node as in web/package.json.
set -u

PYTHON_WANTED="3.11"
RUST_WANTED="1.88"
NODE_WANTED="20"
missing=0

# at_least FOUND WANTED: compares "major.minor" numerically.
at_least() {
    found_major=${1%%.*}; found_rest=${1#*.}; found_minor=${found_rest%%.*}
    wanted_major=${2%%.*}; wanted_rest=${2#*.}; wanted_minor=${wanted_rest%%.*}
    [ "$wanted_rest" = "$2" ] && wanted_minor=0
    [ "$found_major" -gt "$wanted_major" ] ||
        { [ "$found_major" -eq "$wanted_major" ] && [ "$found_minor" -ge "$wanted_minor" ]; }
}

# lacking WHAT HOW...: one line what, the next lines what to do.
lacking() {
    missing=1
    printf 'missing: %s\n' "$1" >&2
    shift
    for line in "$@"; do printf '    %s\n' "$line" >&2; done
}

python_version() {
    "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null
}

# find_python: PYTHON from the environment, else the first interpreter that is new enough.
find_python() {
    for candidate in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
        version=$(python_version "$candidate") || continue
        if [ -n "$version" ] && at_least "$version" "$PYTHON_WANTED"; then
            printf '%s\n' "$candidate"
            return 0
        fi
    done
    return 1
}

check_python() {
    if ! python=$(find_python); then
        version=$(python_version "${PYTHON:-python3}")
        lacking "Python $PYTHON_WANTED or later (found: ${version:-none})" \
            "Debian, Ubuntu: apt install python3 python3-venv; Fedora: dnf install python3" \
            "Another interpreter is used with: make PYTHON=/path/to/python3"
    elif ! "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
        lacking "the venv module of $python" "Debian, Ubuntu: apt install python3-venv"
    fi
}

check_rust() {
    version=$(rustc --version 2>/dev/null | cut -d' ' -f2)
    if [ -z "$version" ] || ! cargo --version >/dev/null 2>&1; then
        lacking "a stable Rust toolchain, $RUST_WANTED or later (found: none)" \
            "Install rustup (Debian 13, Ubuntu 24.04: apt install rustup), then: rustup default stable" \
            "Already installed? Its folder must be on PATH: . \"\$HOME/.cargo/env\""
    elif ! at_least "$version" "$RUST_WANTED"; then
        lacking "a stable Rust toolchain, $RUST_WANTED or later (found: $version)" "rustup update stable"
    fi
    if ! command -v "${CC:-cc}" >/dev/null 2>&1; then
        lacking "a C linker, which Rust needs (looked for: ${CC:-cc})" \
            "Debian, Ubuntu: apt install gcc libc6-dev; Fedora: dnf install gcc"
    fi
}

check_node() {
    version=$(node --version 2>/dev/null | tr -d v)
    if [ -z "$version" ] || ! at_least "$version" "$NODE_WANTED"; then
        lacking "Node $NODE_WANTED or later, for the build of the report page only (found: ${version:-none})" \
            "Debian 13, Ubuntu 25.04: apt install nodejs npm; elsewhere: nvm install $NODE_WANTED"
    elif ! npm --version >/dev/null 2>&1; then
        lacking "npm, which comes with Node" "Debian, Ubuntu: apt install npm"
    fi
}

if [ "${1:-}" = "--print-python" ]; then
    find_python
    exit
fi
check_python
check_rust
check_node
exit "$missing"
