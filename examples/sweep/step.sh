#!/bin/sh
# One step of the scan: sim ENERGY SEED, sum ENERGY, or table.
set -eu
case $1 in
sim) echo "energy $2 seed $3 result $(($2 * ${3#0}))" ;;
sum) cat sim_"$2"_??.out > "sum_$2.txt" ;;
table) cat sum_*.txt > table.txt ;;
esac
