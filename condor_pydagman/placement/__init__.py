"""Data placement, a program beside DAGMan: work orders in, events, journals and exit codes out.

`data_node.py` is the job of a DATA node, `transfer_command.py` the same by hand.  `worker.py`
runs the requests of a file, several at a time.  For each it asks for a turn (`turns.py`: limits
over all workers of the access point), then tries the ways from one URL to the other: a module of
the site's (`module_way.py`), streams between two services (`direct_way.py` on `endpoints/`),
HTCondor's file-transfer plugins (`plugin_way.py`), two steps through a local cache
(`cache_way.py`).  `allocations.py` keeps the ledger of allocations.
"""
