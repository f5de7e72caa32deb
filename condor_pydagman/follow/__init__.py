"""The reader of a DAG: the engine, which replays the nodes log as it grows."""
