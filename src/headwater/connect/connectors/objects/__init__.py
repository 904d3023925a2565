"""Files of an object store or a folder: records in Parquet, Avro or JSON, each in one file once."""
