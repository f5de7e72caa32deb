"""Services that hold files: local disks, http servers, and what fsspec knows; one file each.

`endpoint.py` says what each of them does; `choose.py` finds the one for a URL.
"""
