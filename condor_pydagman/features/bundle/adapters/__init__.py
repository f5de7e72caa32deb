"""Files of bundles: descriptions of nodes, lists of tasks, results, and what jobs bring home."""
