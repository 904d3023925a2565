"""Groups of the classic protocol: their members join and sync, and one of them assigns."""
