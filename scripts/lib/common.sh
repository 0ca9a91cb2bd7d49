# shellcheck shell=bash disable=SC2034
# Sourced by every script: where the repository is, which packages a job needs, how to build a preset.

set -euo pipefail
export LC_ALL=C.UTF-8
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
jobs=$(nproc)
python=/usr/bin/python3 # Debian's own: another Python may stand first in PATH

# What `cmake --preset release` needs, and what each further job adds. Debian 12 package names.
build_packages=(g++ cmake ninja-build libeigen3-dev libopenblas-dev libfmt-dev nlohmann-json3-dev
  libfast-float-dev zlib1g-dev libzstd-dev libxxhash-dev libarchive-dev libcli11-dev)
test_packages=(catch2 python3 gzip zstd chromium fonts-dejavu-core sqlite3)
mpi_packages=(libopenmpi-dev openmpi-bin iproute2)
python_packages=(pybind11-dev python3-dev python3-numpy python3-scipy python3-pandas python3-sklearn python3-matplotlib
  python3-pytest python3-pip mypy)
lint_packages=(clang-format clang-tidy cppcheck)
mutate_packages=(python3-clang-14 util-linux)
coverage_packages=(gcovr)
fuzz_packages=(clang-14 libclang-rt-14-dev) # what the preset asan compiles with
bench_packages=(libbenchmark-dev libsvm-dev liblinear-dev mawk python3)

say() { printf '%s\n' "$*" >&2; }
die() {
  say "scripts/$(basename "$0"): $*"
  exit 2
}

# need_packages PACKAGE...: installs those that are missing, and says which.
need_packages() {
  local package missing=() as_root=()
  command -v dpkg-query >/dev/null ||
    die "this is no Debian: install what matches these packages, then use cmake --preset release: $*"
  for package in "$@"; do
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  if (($(id -u) != 0)); then
    command -v sudo >/dev/null ||
      die "packages are missing and this is neither root nor is there sudo; as root run: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing ${missing[*]}"
  local log
  log=$(mktemp)
  # A list that could not be refreshed matters only if the install then fails.
  if ! {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq || true
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
      -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=120 "${missing[@]}"
  } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    die "apt-get could not install: ${missing[*]}"
  fi
  rm -f "$log"
}

# build_preset PRESET [cmake --build argument...]: configures if need be, then builds; silent if all is well.
# CMAKE_CXX_COMPILER_LAUNCHER is read by CMake itself: ccache is used where it is installed. BAGWISE_UNITY in the
# environment goes before what the preset says.
build_preset() {
  local preset=$1 log
  shift
  if [[ -z ${CMAKE_CXX_COMPILER_LAUNCHER-} ]] && command -v ccache >/dev/null; then
    # Paths below the repository are hashed as relative ones, so that several clones share what they compiled.
    export CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR=${CCACHE_BASEDIR-$root} CCACHE_NOHASHDIR=1
  fi
  mkdir -p "$root/build/$preset"
  log=$root/build/$preset/build.log
  if ! (cd "$root" && cmake --preset "$preset" ${BAGWISE_UNITY:+-D BAGWISE_UNITY="$BAGWISE_UNITY"} &&
    cmake --build --preset "$preset" -j "$jobs" "$@") >"$log" 2>&1; then
    grep -nE 'error|warning: |FAILED' "$log" | head -n 40 >&2 || true
    tail -n 15 "$log" >&2
    say "the build of preset $preset failed; all of its output is in build/$preset/build.log"
    return 1
  fi
}

# Seconds since an $EPOCHREALTIME taken earlier, with one decimal.
seconds_since() { awk -v a="$1" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }'; }
