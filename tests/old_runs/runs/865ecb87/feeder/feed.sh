#!/bin/sh
first=$((2 * $1 - 1))
for n in $first $((first + 1)); do echo "JOB n$n job.sub"; done
test "$1" -lt 5 || exit 9
