"""Bytes and values inside Spark: native expressions where Spark has them, Arrow functions else."""
