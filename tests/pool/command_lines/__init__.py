"""Command lines for stock and for ours: a table, its reader, and who runs them."""
