"""Matching groups of nodes to sites without I/O: policies, claims, which site a group gets.

A group is matched as a whole when its first node could start, and its nodes run at that site.
"""
