"""Plans on Spark: the session, topics as streams, formats, the compiler, and jobs that run.

The only package that imports PySpark, but for `headwater.testing`'s topology driver.
"""
