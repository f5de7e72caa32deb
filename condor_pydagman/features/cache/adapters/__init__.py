"""What CACHE reads and keeps in files: the store, and what nodes are done with."""
