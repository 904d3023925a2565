"""Alerts as data: what is checked at each look, and whom it is told.

- `conditions`: what can be checked, inside and by Prometheus;
- `rules`, `rule_file`: what is checked, and for how long it has to hold;
- `alerts`: what holds now, since when;
- `delivery`: webhooks and topics that are told of it;
- `prometheus`: the same rules for a Prometheus of one's own.
"""
