"""The registry's HTTP interface: Confluent's REST API as an ASGI application."""
