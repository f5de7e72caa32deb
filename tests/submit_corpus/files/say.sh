#!/bin/sh
for word in "$@"; do echo "$word = 1"; done
