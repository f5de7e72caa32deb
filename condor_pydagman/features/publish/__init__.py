"""PUBLISH: values of a node that has ended well, for the conditions of others."""
