"""What every HTTP service shares: router, answers and streams, authentication, TLS, server."""
