"""The proxy's interface of version 2: metadata, produce, consumer instances."""
