"""A cluster's state as metrics under kafka_exporter's names, for the broker and the monitor.

`gauges` has them in columns and makes their text.
"""
