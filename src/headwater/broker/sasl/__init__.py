"""SASL for the broker's listeners: who somebody is, proved before the first request."""
