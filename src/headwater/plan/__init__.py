"""Operators as plain data: what the DSL builds and `headwater.spark` runs. No Spark in here."""
