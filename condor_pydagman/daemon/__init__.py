"""The process: starts up, waits for inputs, feeds the engine, has its actions done."""
