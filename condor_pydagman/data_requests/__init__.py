"""What DAGMan, the checker and data placement agree on: requests, work orders, exit codes.

A request file says what is to be transferred, which space is to be allocated and what is to be
released; `request_text` reads it, `placement/` does it.  The format and its words are those of
Stork, the data placement scheduler that HTCondor once had (Kosar and Livny, "Stork: Making Data
Placement a First Class Citizen in the Grid", ICDCS 2004).
"""
