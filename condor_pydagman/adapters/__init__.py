"""ACTIONS -> WORLD -> INPUTS: the only code that
touches files, processes, clocks and the schedd."""
