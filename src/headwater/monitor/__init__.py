"""Watches a cluster from outside: how far groups are behind, in records and seconds, and why.

- `cluster_monitor`: looks at the cluster again and again;
- `record_times`: when records were written that a group has still to read;
- `lags`: how far each group is behind;
- `verdicts`: what is to be said of it;
- `families`: all of it as metrics; `http/`: all of it as answers.

It speaks Kafka's protocol alone, so that it watches Apache Kafka as well.
"""
