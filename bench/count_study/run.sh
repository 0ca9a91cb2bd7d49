#!/usr/bin/env bash
# A taste of the study: one seed of every preset in bags of 64, and rows with and without clusters, as tables.
#
# usage: bench/count_study/run.sh FOLDER      FOLDER: where bench_count_study is, as scripts/bench gives it
. "$(dirname "$0")/../../scripts/lib/common.sh"

results=$(mktemp)
trap 'rm -f "$results"' EXIT
arms=inv-cal/pca,tl-llp/pca,tl-count/pca,tl-count-alone/pca
for kind in documents gaussian; do
  for preset in related unrelated; do
    "$root/$1/bench_count_study" presets $kind $preset 64 1 1 $arms >>"$results"
  done
done
"$root/$1/bench_count_study" clusters 8 1 2 inv-cal/none,tl-count/none >>"$results"
"$root/bench/count_study/tables.py" "$results"
