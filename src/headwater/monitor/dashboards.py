"""Dashboards for Grafana, made from lists of panels.

They use the metrics that the monitor and the broker show, and so work with what kafka_exporter and
Kafka Lag Exporter show of other clusters, as far as these have them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

_WIDTH, _HEIGHT, _COLUMNS = 12, 8, 2
_SCHEMA_VERSION = 39  # Grafana 10 and later
_SOURCE = {"type": "prometheus", "uid": "${datasource}"}


class Panel(NamedTuple):
    """A chart: what it shows, in which of Grafana's units, and a legend for each line."""

    title: str
    unit: str
    expression: str
    legend: str


class Dashboard(NamedTuple):
    """A page of panels."""

    name: str
    title: str
    panels: tuple[Panel, ...]


GROUPS = Dashboard(
    "headwater-groups",
    "Headwater: consumer groups",
    (
        Panel(
            "Lag in seconds", "s", "max by (group) (kafka_consumergroup_group_max_lag_seconds)",
            "{{group}}",
        ),
        Panel(
            "Lag in records", "short", "sum by (group) (kafka_consumergroup_group_sum_lag)",
            "{{group}}",
        ),
        Panel(
            "Verdict (1 OK, 2 WARN, 4 STOP, 5 STALL, 6 REWIND)", "none",
            "max by (consumer_group) (burrow_kafka_consumer_status)", "{{consumer_group}}",
        ),
        Panel("Members", "short", "kafka_consumergroup_members", "{{consumergroup}}"),
        Panel(
            "Records read a second", "cps",
            "sum by (group) (rate(kafka_consumergroup_group_offset[1m]))", "{{group}}",
        ),
        Panel(
            "Records written a second", "cps",
            "sum by (topic) (rate(kafka_partition_latest_offset[1m]))", "{{topic}}",
        ),
        Panel(
            "Partitions with replicas out of sync", "short",
            "sum by (topic) (kafka_topic_partition_under_replicated_partition)", "{{topic}}",
        ),
        Panel("Brokers", "short", "kafka_brokers", "brokers"),
    ),
)  # fmt: skip

BROKER = Dashboard(
    "headwater-broker",
    "Headwater: broker",
    (
        Panel(
            "Bytes in a second", "Bps",
            "sum by (topic) (rate(kafka_server_brokertopicmetrics_bytesin_total{topic!=''}[1m]))",
            "{{topic}}",
        ),
        Panel(
            "Bytes out a second", "Bps",
            "sum by (topic) (rate(kafka_server_brokertopicmetrics_bytesout_total{topic!=''}[1m]))",
            "{{topic}}",
        ),
        Panel(
            "Requests a second", "reqps",
            "sum by (request) (rate(kafka_network_requestmetrics_requests_total[1m]))",
            "{{request}}",
        ),
        Panel(
            "Time for a request, 99 %", "ms",
            "histogram_quantile(0.99, sum by (request, le) "
            "(rate(kafka_network_requestmetrics_totaltimems_bucket[1m])))", "{{request}}",
        ),
        Panel(
            "Time for a flush to disk, 99 %", "ms",
            "histogram_quantile(0.99, sum by (le) "
            "(rate(kafka_log_logflushstats_logflushrateandtimems_bucket[1m])))", "flush",
        ),
        Panel("Size of topics", "bytes", "sum by (topic) (kafka_log_log_size)", "{{topic}}"),
        Panel(
            "Connections", "short",
            "sum by (listener) (kafka_server_socket_server_metrics_connection_count)",
            "{{listener}}",
        ),
        Panel("Memory", "bytes", "process_resident_memory_bytes", "{{job}}"),
    ),
)  # fmt: skip

DASHBOARDS = (GROUPS, BROKER)


def grafana(dashboard: Dashboard) -> dict[str, Any]:
    """Return a dashboard in the form that Grafana imports, with a choice of the data source."""
    return {
        "uid": dashboard.name,
        "title": dashboard.title,
        "schemaVersion": _SCHEMA_VERSION,
        "editable": True,
        "refresh": "10s",
        "time": {"from": "now-1h", "to": "now"},
        "tags": ["headwater", "kafka"],
        "templating": {
            "list": [
                {
                    "name": "datasource",
                    "label": "Data source",
                    "type": "datasource",
                    "query": "prometheus",
                }
            ]
        },
        "panels": [_panel(number, panel) for number, panel in enumerate(dashboard.panels)],
    }


def _panel(number: int, panel: Panel) -> dict[str, Any]:
    return {
        "id": number + 1,
        "title": panel.title,
        "type": "timeseries",
        "datasource": _SOURCE,
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
        "gridPos": {
            "w": _WIDTH,
            "h": _HEIGHT,
            "x": number % _COLUMNS * _WIDTH,
            "y": number // _COLUMNS * _HEIGHT,
        },
        "targets": [
            {
                "refId": "A",
                "datasource": _SOURCE,
                "expr": panel.expression,
                "legendFormat": panel.legend,
            }
        ],
    }
