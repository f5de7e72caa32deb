"""The simulator: whole runs of random DAGs in virtual time, with faults, all drawn from a seed."""
