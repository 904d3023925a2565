"""Plans on Spark: the session, topics as streams, formats, the compiler, and jobs that run.

The only package that imports PySpark.
"""
