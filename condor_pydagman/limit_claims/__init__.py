"""The directory in which the DAGMans of an access point keep what they have taken of limits that
they share, the process that asks it, and where limits are defined.
"""
