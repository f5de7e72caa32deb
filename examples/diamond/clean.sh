#!/bin/sh
# PRE script of A: results of an earlier run must not be taken for this one's.
rm -f A.txt B.txt C.txt D.txt
