#!/bin/sh
# check.sh STATUS: POST script of D; D is good if its job was and all four steps left their line.
[ "$1" -eq 0 ] && [ "$(sort -u D.txt | wc -l)" -eq 4 ]
