#!/usr/bin/env bash
# Accuracy of InvCal and of TL-LLP, both with default options, on the made-up data of `bagwise generate`.
#
# usage: bench/presets/run.sh [FOLDER]      SIZE=32 SEEDS=10 in the environment
#   FOLDER   build/PRESET/bench/presets, as scripts/bench gives it: the program of that preset is used; without it,
#            the release build is
#   SIZE     rows per bag                     SEEDS    how many: 1, 2, ...
#
# For every kind and preset: a line per seed, then a Markdown table of the means. The same on every run.
. "$(dirname "$0")/../../scripts/lib/common.sh"

size=${SIZE-32} seeds=${SEEDS-10}
if (($#)); then
  bagwise=$root/${1%/bench/*}/bagwise
else
  build_preset release
  bagwise=$root/build/release/bagwise
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# number KEY: the first number behind "KEY": in the JSON on standard input.
number() { tr -d '\n' | grep -oE "\"$1\": *[-+0-9.eE]+" | head -n 1 | grep -oE '[-+0-9.eE]+$'; }
accuracy() { "$bagwise" evaluate --quiet --json --model "$1" --input data/test.csv | number accuracy; }

lines=()
for kind in gaussian documents; do
  for preset in related unrelated; do
    printf '\n%s, %s, bags of %d\n\n  seed  inv-cal  tl-llp  difference  degrees to source  shared part\n' "$kind" "$preset" "$size"
    : >results
    for ((seed = 1; seed <= seeds; ++seed)); do
      "$bagwise" generate --quiet --kind "$kind" --preset "$preset" --seed "$seed" --out data >/dev/null
      for task in source target; do
        "$bagwise" bag --quiet --input data/$task.csv --size "$size" --seed "$seed" \
          --out-instances $task.csv --out-proportions $task.shares.csv
      done
      target=(--target target.csv --target-proportions target.shares.csv)
      "$bagwise" train --quiet --method inv-cal "${target[@]}" -o alone.json
      "$bagwise" train --json --method tl-llp "${target[@]}" --source source.csv --source-proportions source.shares.csv \
        -o both.json >report.json
      # The target is the last task of the report; its first angle is the one to the source.
      last=$(tr -d '\n' <report.json | sed 's/.*"name": "target"//')
      angle=$(grep -oE '"angles": \[ *[-+0-9.eE]+' <<<"$last" | grep -oE '[-+0-9.eE]+$')
      printf '%d %s %s %s %s\n' "$seed" "$(accuracy alone.json)" "$(accuracy both.json)" "$angle" \
        "$(number shared_part <<<"$last")" >>results
      awk 'END { printf "  %4d  %7.4f  %6.4f  %+10.4f  %17.0f  %9.0f %%\n", $1, $2, $3, $3 - $2, $4, 100 * $5 }' results
    done
    lines+=("$(awk -v kind="$kind" -v preset="$preset" '
      { d = $3 - $2; a += $2; b += $3; won += d > 0; angle += $4; part += $5
        if (NR == 1 || d < low) low = d; if (NR == 1 || d > high) high = d }
      END { printf "| %s | %s | %.3f | %.3f | %d of %d | %+.3f to %+.3f | %.0f | %.0f %% |", kind, preset, a / NR, b / NR,
              won, NR, low, high, angle / NR, 100 * part / NR }' results)")
  done
done

printf '\n| data | source | inv-cal | tl-llp | tl-llp is better on | difference | degrees to the source | shared part |\n'
printf '|---|---|---|---|---|---|---|---|\n'
printf '%s\n' "${lines[@]}"
