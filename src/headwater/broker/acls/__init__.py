"""ACLs: what one is, finding those that matter, and the authorizer that decides by them."""
