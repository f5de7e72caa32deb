#!/bin/sh
# PRE script of A: removes the results of an earlier run.
rm -f A.txt B.txt C.txt D.txt
