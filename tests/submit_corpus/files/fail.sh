#!/bin/sh
echo a = 1
exit 3
