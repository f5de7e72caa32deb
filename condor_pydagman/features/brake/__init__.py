"""BRAKE: a DAG of which much fails is halted, its jobs are held, or it ends."""
