#!/bin/sh
# script.sh NAME CODE
while [ -e "hold.$1" ]; do sleep 0.2; done
exit "$2"
