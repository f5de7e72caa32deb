#!/bin/sh
# Count the words of all files that were staged in.
set -eu
for file in scratch/*; do
    printf '%s %s\n' "$(wc -w <"$file")" "${file##*/}"
done
