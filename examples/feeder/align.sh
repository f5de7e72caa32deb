#!/bin/sh
# Stands for the work on one sample: align.sh NAME SIZE
echo "$1: $2 reads aligned"
