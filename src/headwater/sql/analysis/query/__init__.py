"""SELECT: where its rows come from, what is made of them, and the columns of the result."""
