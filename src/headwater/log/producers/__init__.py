"""What the log knows of idempotent and transactional producers, and its snapshots."""
