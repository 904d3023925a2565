"""Client quotas: how much a user, a client id or an address may use, and what happens above it.

- `rate`, `token_bucket`: how use is measured, which knows nothing of clients;
- `entity`, `alteration`, `filter`: what operators set, change and ask for;
- `limit`, `quota`: which limit a client falls under, and what was used of it;
- `client_quotas`: all quotas of the broker, by what they limit;
- `request_throttle`: one request on its way through them.
"""
