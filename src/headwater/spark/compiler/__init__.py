"""Plans become DataFrames: one module for each kind of operator."""
