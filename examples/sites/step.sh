#!/bin/sh
# A step of a unit: step.sh STEP NODE; $AREA is the site's working area.
set -eu
unit=$AREA/${2%+*}
case $1 in
in) mkdir -p "$unit" && echo "data of ${2%+*}" >"$unit/input" ;;
run) [ ! -e "$AREA/broken" ] && tr a-z A-Z <"$unit/input" >"$unit/result" ;;
out) cat "$unit/result" && echo "from $AREA" ;;
clean) rm -rf "$unit" ;;
esac
