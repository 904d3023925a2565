"""The streams, tables and types that statements have made, and the formats of their topics."""
