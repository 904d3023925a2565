"""SQL in tests: statements over records that a test has, without a broker."""
