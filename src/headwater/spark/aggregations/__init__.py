"""Aggregations as folds: for each, which fields of state it keeps, how a row changes them, the end.

The updates are Spark SQL over `state`, null before the first row, and `row`, which has the value
that the aggregation looks at. The JVM runs them row by row, see jvm/.../operators/Fold.java. Merges
make one of two states, of which the later one is `row`.
"""
