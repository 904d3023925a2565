"""What `headwater perf` measures, and the processes that do it."""
