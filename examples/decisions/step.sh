#!/bin/sh
# step.sh NAME CODE: notes that it has run, writes what PUBLISH reads, and exits with CODE.
echo "$1" >> ran
echo "size = 5" > "$1.ad"
exit "$2"
