#!/bin/sh
# step.sh NODE FILE...: writes NODE.out from the files, and down that it has run
node=$1
shift
echo "$node" >> ran
cat "$@" | sort > "$node.out"
