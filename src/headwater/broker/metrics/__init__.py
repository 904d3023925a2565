"""What operators see: the broker's numbers under the names that dashboards for Kafka know.

- `durations`, `request_times`: the little that is counted while requests are served;
- `topic_metrics`, `group_metrics`, `server_metrics`: everything else, read when somebody looks;
- `endpoint`: where Prometheus fetches it. Nothing but this imports `prometheus_client`.
"""
