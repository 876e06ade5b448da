#!/usr/bin/env bash
# Compiles fusion's Python binding for the Python at hand, in the unpacked release.
#
# usage: install-python.sh [--register]
#
# Needs g++ and the headers of that Python; takes under a minute. PYTHON names the
# interpreter (python3 by default) and CXX the compiler. With --register every
# start of that Python finds fusion; without, PYTHONPATH has to name the package.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=${PYTHON:-python3}
compiler=${CXX:-g++}

die() {
  printf 'install-python.sh: %s\n' "$1" >&2
  exit 1
}

command -v "$python" >/dev/null || die "no $python; set PYTHON"
command -v "$compiler" >/dev/null || die "no $compiler; install g++ or set CXX"
evaluate() { "$python" -c "import sys, sysconfig; print($1)"; }

evaluate 'sys.exit(0 if sys.version_info >= (3, 10) else 1)' ||
  die "needs Python 3.10 or newer"
headers=$(evaluate 'sysconfig.get_path("include")')
[ -f "$headers/Python.h" ] ||
  die "no Python.h in $headers; install the headers (on Debian and Ubuntu \
python3-dev)"
# The Python's own pybind11 where it has one, else the one that came along.
pybind11=$("$python" -c 'import pybind11; print(pybind11.get_include())' \
  2>/dev/null) || pybind11=$root/third_party/pybind11/include

target=$root/python/fusion/_fusion$(evaluate 'sysconfig.get_config_var("EXT_SUFFIX")')
echo "Compiling $target"
"$compiler" -std=c++17 -O2 -DNDEBUG -shared -fPIC -fvisibility=hidden \
  -I "$root/include" -I "$headers" -I "$pybind11" "$root"/python/src/*.cpp \
  -L "$root/lib" -lfusion -Wl,-rpath,'$ORIGIN/../../lib' -o "$target"

PYTHONPATH=$root/python "$python" -c 'import fusion; fusion.doctor()' ||
  die "the compiled binding does not load"
if [ "${1:-}" = --register ]; then
  site=$(evaluate 'sysconfig.get_path("purelib")')
  echo "$root/python" >"$site/fusion.pth" ||
    die "cannot write to $site; use a virtual environment"
  echo "Done: this Python now finds fusion."
else
  echo "Done. Use it with: export PYTHONPATH=$root/python"
fi
