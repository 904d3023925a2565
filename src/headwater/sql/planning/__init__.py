"""Analysed queries as plans: the same operators that programs of the Python DSL are made of."""
