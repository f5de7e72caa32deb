"""Data placement without I/O: what follows a fault, whose turn it is, the text of a ledger."""
