"""Java for the parts that need a JVM: which runtime to use, and libraries by Maven coordinates."""
