#!/bin/sh
echo 'JOB M1 job.sub
JOB M2 job.sub
PARENT M1 CHILD M2' > more.dag
