#!/bin/sh
echo 'JOB A job.sub' > bad.dag
