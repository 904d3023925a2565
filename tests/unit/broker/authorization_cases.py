"""Kafka's demands: for each API a request, the rights that it takes, and the errors without them.

From the operations and resources of Kafka's protocol documentation, and from what its request
handlers put into their answers.
"""

from __future__ import annotations

from tests.unit.broker.authorization_cluster import OF_CLUSTER
from tests.unit.broker.authorization_groups import OF_GROUPS
from tests.unit.broker.authorization_topics import OF_TOPICS
from tests.unit.broker.authorization_transactions import OF_TRANSACTIONS

from headwater.protocol.api_keys import ApiKey

NOBODY_ASKS = {
    ApiKey.API_VERSIONS: "the greeting comes before anybody can have said who they are",
    ApiKey.SASL_HANDSHAKE: "it is refused where nobody logs in",
    ApiKey.SASL_AUTHENTICATE: "it is refused where nobody logs in",
    **dict.fromkeys(
        (
            ApiKey.CREATE_DELEGATION_TOKEN,
            ApiKey.RENEW_DELEGATION_TOKEN,
            ApiKey.EXPIRE_DELEGATION_TOKEN,
            ApiKey.DESCRIBE_DELEGATION_TOKEN,
        ),
        "they are refused in plain text; test_apis_delegation_tokens.py has their rights",
    ),
}

CASES = [*OF_TOPICS, *OF_CLUSTER, *OF_GROUPS, *OF_TRANSACTIONS]
