#!/bin/sh
# check.sh STATUS: POST script of D; D succeeds if its job did and all four steps wrote their line.
[ "$1" -eq 0 ] && [ "$(sort -u D.txt | wc -l)" -eq 4 ]
