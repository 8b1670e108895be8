"""Running text to trees."""
