"""What `headwater sql` is made of: a session with a server, its output, and the shell around it."""
