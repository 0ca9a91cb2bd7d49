#!/usr/bin/env bash
# The cost of a fit from numpy, by the package that the same build made.
set -euo pipefail
folder=$(cd "$1" && pwd)
export PYTHONPATH="$folder/../../python"
exec /usr/bin/python3 -B "$(dirname "$0")/compare.py" "$folder/bench_python_fit"
