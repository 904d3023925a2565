"""Records of topics: read, decoded, filtered, written."""
