"""The metadata that survives a crash: its journal, its changes, whose data directory it is."""
