"""The Connect worker, in the process of services that need Spark."""

from __future__ import annotations

from headwater.up.services.spark import SparkServiceFactory

CONNECT = SparkServiceFactory("connect", "headwater.connect.service:CONNECT", "Connect")
