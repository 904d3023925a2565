"""Connect's converters: keys and values to bytes and back, by Connect's class names."""
