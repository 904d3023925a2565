"""What `headwater run` loads and shows, and the program that makes Spark ready for it."""
