"""The APIs that the broker serves, a file for each family; this table says who answers what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.broker.apis.acls import create_acls, delete_acls, describe_acls
from headwater.broker.apis.api_versions import api_versions
from headwater.broker.apis.cluster import (
    describe_cluster,
    describe_topic_partitions,
    elect_leaders,
    list_partition_reassignments,
)
from headwater.broker.apis.configs import (
    alter_configs,
    describe_configs,
    incremental_alter_configs,
    list_config_resources,
)
from headwater.broker.apis.consumer_groups import (
    consumer_group_describe,
    consumer_group_heartbeat,
)
from headwater.broker.apis.delegation_tokens import (
    create_delegation_token,
    describe_delegation_token,
    expire_delegation_token,
    renew_delegation_token,
)
from headwater.broker.apis.delete_records import delete_records
from headwater.broker.apis.fetch import fetch
from headwater.broker.apis.find_coordinator import find_coordinator
from headwater.broker.apis.group_admin import delete_groups, describe_groups, list_groups
from headwater.broker.apis.group_membership import (
    heartbeat,
    join_group,
    leave_group,
    sync_group,
)
from headwater.broker.apis.group_offsets import offset_commit, offset_delete, offset_fetch
from headwater.broker.apis.leader_epochs import offset_for_leader_epoch
from headwater.broker.apis.list_offsets import list_offsets
from headwater.broker.apis.log_dirs import describe_log_dirs
from headwater.broker.apis.metadata import metadata
from headwater.broker.apis.produce import produce
from headwater.broker.apis.producer_ids import init_producer_id
from headwater.broker.apis.quotas import alter_client_quotas, describe_client_quotas
from headwater.broker.apis.sasl import sasl_authenticate, sasl_handshake
from headwater.broker.apis.scram_credentials import (
    alter_user_scram_credentials,
    describe_user_scram_credentials,
)
from headwater.broker.apis.topics import create_partitions, create_topics, delete_topics
from headwater.broker.apis.transaction_admin import (
    describe_producers,
    describe_transactions,
    list_transactions,
)
from headwater.broker.apis.transaction_offsets import txn_offset_commit
from headwater.broker.apis.transactions import (
    add_offsets_to_txn,
    add_partitions_to_txn,
    end_txn,
    write_txn_markers,
)
from headwater.protocol.api_keys import ApiKey

if TYPE_CHECKING:
    from headwater.broker.requests.request import Handler

HANDLERS: dict[ApiKey, Handler] = {
    ApiKey.PRODUCE: produce,
    ApiKey.FETCH: fetch,
    ApiKey.LIST_OFFSETS: list_offsets,
    ApiKey.METADATA: metadata,
    ApiKey.API_VERSIONS: api_versions,
    ApiKey.SASL_HANDSHAKE: sasl_handshake,
    ApiKey.SASL_AUTHENTICATE: sasl_authenticate,
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: describe_user_scram_credentials,
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: alter_user_scram_credentials,
    ApiKey.CREATE_DELEGATION_TOKEN: create_delegation_token,
    ApiKey.RENEW_DELEGATION_TOKEN: renew_delegation_token,
    ApiKey.EXPIRE_DELEGATION_TOKEN: expire_delegation_token,
    ApiKey.DESCRIBE_DELEGATION_TOKEN: describe_delegation_token,
    ApiKey.CREATE_TOPICS: create_topics,
    ApiKey.DELETE_TOPICS: delete_topics,
    ApiKey.DELETE_RECORDS: delete_records,
    ApiKey.OFFSET_FOR_LEADER_EPOCH: offset_for_leader_epoch,
    ApiKey.DESCRIBE_ACLS: describe_acls,
    ApiKey.CREATE_ACLS: create_acls,
    ApiKey.DELETE_ACLS: delete_acls,
    ApiKey.DESCRIBE_CONFIGS: describe_configs,
    ApiKey.ALTER_CONFIGS: alter_configs,
    ApiKey.INCREMENTAL_ALTER_CONFIGS: incremental_alter_configs,
    ApiKey.LIST_CONFIG_RESOURCES: list_config_resources,
    ApiKey.DESCRIBE_CLIENT_QUOTAS: describe_client_quotas,
    ApiKey.ALTER_CLIENT_QUOTAS: alter_client_quotas,
    ApiKey.DESCRIBE_LOG_DIRS: describe_log_dirs,
    ApiKey.CREATE_PARTITIONS: create_partitions,
    ApiKey.ELECT_LEADERS: elect_leaders,
    ApiKey.LIST_PARTITION_REASSIGNMENTS: list_partition_reassignments,
    ApiKey.DESCRIBE_CLUSTER: describe_cluster,
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: describe_topic_partitions,
    ApiKey.FIND_COORDINATOR: find_coordinator,
    ApiKey.JOIN_GROUP: join_group,
    ApiKey.SYNC_GROUP: sync_group,
    ApiKey.HEARTBEAT: heartbeat,
    ApiKey.LEAVE_GROUP: leave_group,
    ApiKey.OFFSET_COMMIT: offset_commit,
    ApiKey.OFFSET_FETCH: offset_fetch,
    ApiKey.OFFSET_DELETE: offset_delete,
    ApiKey.DESCRIBE_GROUPS: describe_groups,
    ApiKey.LIST_GROUPS: list_groups,
    ApiKey.DELETE_GROUPS: delete_groups,
    ApiKey.CONSUMER_GROUP_HEARTBEAT: consumer_group_heartbeat,
    ApiKey.CONSUMER_GROUP_DESCRIBE: consumer_group_describe,
    ApiKey.INIT_PRODUCER_ID: init_producer_id,
    ApiKey.ADD_PARTITIONS_TO_TXN: add_partitions_to_txn,
    ApiKey.ADD_OFFSETS_TO_TXN: add_offsets_to_txn,
    ApiKey.END_TXN: end_txn,
    ApiKey.WRITE_TXN_MARKERS: write_txn_markers,
    ApiKey.TXN_OFFSET_COMMIT: txn_offset_commit,
    ApiKey.DESCRIBE_PRODUCERS: describe_producers,
    ApiKey.DESCRIBE_TRANSACTIONS: describe_transactions,
    ApiKey.LIST_TRANSACTIONS: list_transactions,
}
