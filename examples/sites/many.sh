#!/bin/sh
# Write a DAG of many units, each as those of placed.dag, and what goes into them: the file of each
# unit, and many.dag.  sh many.sh [UNITS]
set -eu
count=${1:-40}

unit() {
    cat <<END

DATA in$1    stage-in.dap
JOB  run$1   placed.sub
DATA out$1   stage-out.dap
JOB  clean$1 placed.sub
VARS in$1    unit="unit$1"
VARS run$1   unit="unit$1" step="run"
VARS out$1   unit="unit$1"
VARS clean$1 unit="unit$1" step="clean"
PARENT in$1  CHILD run$1
PARENT run$1 CHILD out$1
PARENT out$1 CHILD clean$1
SITE_GROUP  unit$1 NODES in$1 run$1 out$1 clean$1
SITE_POLICY unit$1 CLEAN_UP clean$1 2m
END
}

{
    echo "# $count units of work, written by many.sh."
    number=0
    while [ "$number" -lt "$count" ]; do
        number=$((number + 1))
        unit "$number"
        echo "data of unit $number" >"unit$number.txt"
    done
    # A site where no unit has been done is on trial, so that one that fails all does not get them all.
    cat <<END

SITE_POLICY ALL_GROUPS REQUIREMENTS TARGET.Grid == "example"
SITE_POLICY ALL_GROUPS FAILURES 1
SITE_POLICY ALL_GROUPS OLD_SITE NEVER
END
} >many.dag
