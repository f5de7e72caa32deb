"""Finds sites: the collector's ads, the claims of all DAGMans; and publishes them."""
