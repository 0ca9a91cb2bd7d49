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

# degrees REPORT: between the planes of target and source; the target is the last task, its first angle is to the source.
degrees() { tr -d '\n' <"$1" | sed 's/.*"name": "target"//' | grep -oE '"angles": \[ *[-+0-9.eE]+' | grep -oE '[-+0-9.eE]+$'; }

lines=()
for kind in gaussian documents; do
  for preset in related unrelated; do
    printf '\n%s, %s, bags of %d\n\n  seed  inv-cal  C = 2  tl-llp  difference  degrees apart: joint  alone\n' "$kind" "$preset" "$size"
    : >results
    for ((seed = 1; seed <= seeds; ++seed)); do
      "$bagwise" generate --quiet --kind "$kind" --preset "$preset" --seed "$seed" --out data >/dev/null
      for task in source target; do
        "$bagwise" bag --quiet --input data/$task.csv --size "$size" --seed "$seed" \
          --out-instances $task.csv --out-proportions $task.shares.csv
      done
      target=(--target target.csv --target-proportions target.shares.csv)
      "$bagwise" train --quiet --method inv-cal "${target[@]}" -o alone.json
      # At the cost that is equivalent to the target's in tl-llp, c = C (1 + lambda) / lambda: what is left is the transfer.
      "$bagwise" train --quiet --method inv-cal --C 2 "${target[@]}" -o equivalent.json
      "$bagwise" train --json --method tl-llp "${target[@]}" --source source.csv --source-proportions source.shares.csv \
        -o both.json >report.json
      # The same equivalent costs with next to no transfer: lambda = 1e-6, C = lambda c.
      "$bagwise" train --json --method tl-llp "${target[@]}" --source source.csv --source-proportions source.shares.csv \
        --lambda 1e-6 --lambda-source 1e-6 --C 2e-6 --C-source 2.75e-7 -o apart.json >apart.report.json
      printf '%d %s %s %s %s %s\n' "$seed" "$(accuracy alone.json)" "$(accuracy both.json)" \
        "$(degrees report.json)" "$(degrees apart.report.json)" "$(accuracy equivalent.json)" >>results
      awk 'END { printf "  %4d  %7.4f  %.3f  %6.4f  %+10.4f  %20.0f  %5.0f\n", $1, $2, $6, $3, $3 - $2, $4, $5 }' results
    done
    lines+=("$(awk -v kind="$kind" -v preset="$preset" '
      { d = $3 - $2; a += $2; b += $3; won += d > 0; joint += $4; c += $6; gained += $3 > $6
        if (NR == 1 || d < low) low = d; if (NR == 1 || d > high) high = d
        if (NR == 1 || $5 < near) near = $5; if (NR == 1 || $5 > far) far = $5 }
      END { printf "| %s | %s | %.3f | %.3f | %.3f | %d of %d | %+.3f to %+.3f | %d of %d | %.0f | %.0f to %.0f |", kind, preset,
              a / NR, c / NR, b / NR, won, NR, low, high, gained, NR, joint / NR, near, far }' results)")
  done
done

printf '\n| data | source | inv-cal | inv-cal, C = 2 | tl-llp | better than inv-cal | by | better than C = 2 | degrees, joint | degrees, alone |\n'
printf '|---|---|---|---|---|---|---|---|---|---|\n'
printf '%s\n' "${lines[@]}"
