#!/bin/sh
# job.sh NAME CODE RETRY
echo "$1 $3" >> ran
while [ -e "hold.$1" ]; do sleep 0.2; done
exit "$2"
