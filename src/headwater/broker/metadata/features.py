"""The features that the broker announces, at the levels that it works at."""

from __future__ import annotations

from headwater.broker.transactions.metadata import TRANSACTION_VERSION
from headwater.protocol.api_versions import FinalizedFeature, SupportedFeature

FEATURES_EPOCH = 1
"""Counts the changes of the levels; here they never change."""

SUPPORTED_FEATURES = (
    SupportedFeature("group.version", 0, 1),
    SupportedFeature("transaction.version", 0, TRANSACTION_VERSION),
)
FINALIZED_FEATURES = (
    FinalizedFeature("group.version", 1, 1),
    FinalizedFeature("transaction.version", TRANSACTION_VERSION, TRANSACTION_VERSION),
)
