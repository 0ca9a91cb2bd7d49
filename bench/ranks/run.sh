#!/usr/bin/env bash
# Two ranks against one; the programs' folder is not needed.
exec /usr/bin/python3 -B "$(dirname "$0")/compare.py" build/bench/bagwise
