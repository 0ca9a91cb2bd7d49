#!/usr/bin/env bash
# A taste of the study: one seed of every preset, bags of 64 and 16, as a table.
#
# usage: bench/selection/run.sh FOLDER      FOLDER: where bench_selection is, as scripts/bench gives it
. "$(dirname "$0")/../../scripts/lib/common.sh"

results=$(mktemp)
trap 'rm -f "$results"' EXIT
for size in 64 16; do
  for kind in documents gaussian; do
    for preset in related unrelated; do
      "$root/$1/bench_selection" presets $kind $preset $size 1 1 >>"$results"
    done
  done
done
"$root/bench/selection/tables.py" "$results"
