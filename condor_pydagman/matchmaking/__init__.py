"""Matches groups of nodes to sites: the collector's ads, the claims over the access point, and the
process that asks for both.  The rules are those of `sites/`.
"""
