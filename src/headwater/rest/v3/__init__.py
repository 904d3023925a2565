"""The proxy's interface of version 3: resources with links, and records as a stream."""
