"""Data placement without I/O: what an error means, whose turn it is, what fits into a space.

`data_requests/` is the language of requests, `transfer/` performs them.
"""
