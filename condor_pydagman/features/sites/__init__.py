"""SITE_GROUP: groups of nodes that run at one site each, found for them while the DAG runs."""
