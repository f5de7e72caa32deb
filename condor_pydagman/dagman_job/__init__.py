"""DAGMan's own job: its command line, its submit file, and its submission to a schedd."""
