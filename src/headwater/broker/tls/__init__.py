"""TLS for the broker's listeners; imported only where one of them speaks it."""
