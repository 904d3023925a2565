"""What `headwater demo` sends, receives and shows."""
