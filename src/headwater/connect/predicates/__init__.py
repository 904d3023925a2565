"""Connect's predicates: which records a transform is for, as Spark SQL conditions."""
