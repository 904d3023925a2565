"""What operators see: the broker's numbers under the names that dashboards for Kafka know.

- `durations`, `request_times`: the little that is counted while requests are served;
- `snapshot`: everything else, copied when somebody looks;
- `server_families`: all of it under its names, but for what `headwater.metrics` names;
- `endpoint`: where Prometheus fetches it.
"""
