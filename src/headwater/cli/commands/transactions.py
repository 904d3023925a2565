"""`headwater transactions`: list, describe and abort transactions."""

from __future__ import annotations

import fnmatch
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from headwater.cli.errors import CommandError
from headwater.cli.lazy_group import LazyGroup
from headwater.cli.options.connection import connection_options
from headwater.cli.options.values import MAX_PARTITION, duration
from headwater.cli.output import json_option, note, print_json, print_table
from headwater.clients.connection import Connection, check_topic_name

if TYPE_CHECKING:
    from headwater.clients.raw.admin import RawAdmin

_STATES = (
    "Empty",
    "Ongoing",
    "PrepareCommit",
    "PrepareAbort",
    "CompleteCommit",
    "CompleteAbort",
)
_FENCE_TIMEOUT_MS = 60_000
_TRY_AGAIN_S = 0.1
_TRY_FOR_S = 30.0


@click.group(cls=LazyGroup)
def transactions() -> None:
    """See which transactions are open, look into one, and abort one that hangs."""


@transactions.command(
    "list",
    epilog="""\b
Examples:
  headwater transactions list
  headwater transactions list 'till-*' --state Ongoing
  headwater transactions list --running-longer-than 10m
  headwater transactions list --json | jq -r '.[].transactional_id'""",
)
@click.argument("pattern", required=False)
@click.option(
    "-s", "--state", "states", type=click.Choice(_STATES, case_sensitive=False), multiple=True,
    help="Only those in this state; may be given several times.",
)  # fmt: skip
@click.option("--producer-id", "producer_ids", type=click.IntRange(0), multiple=True)
@click.option(
    "--running-longer-than", "duration_ms", metavar="TIME", type=duration,
    help="Only open transactions that began so long ago: 30s, 10m, 2h, 1d.",
)  # fmt: skip
@json_option
@connection_options
def list_transactions(
    connection: Connection,
    pattern: str | None,
    states: tuple[str, ...],
    producer_ids: tuple[int, ...],
    duration_ms: int | None,
    as_json: bool,
) -> None:
    """List transactional ids, or those that match PATTERN (* and ? stand for any)."""
    from headwater.clients.raw.admin import RawAdmin, check
    from headwater.protocol.api_keys import ApiKey

    admin = RawAdmin(connection)
    wanted = {
        "state_filters": list(states) or (["Ongoing"] if duration_ms is not None else []),
        "producer_id_filters": list(producer_ids),
        "duration_filter": -1 if duration_ms is None else duration_ms,
    }
    rows = []
    for node in admin.brokers():
        answer = admin.ask(node, ApiKey.LIST_TRANSACTIONS, 1 if duration_ms else 0, wanted)
        check(answer.error_code, f"listing the transactions of broker {node.id}")
        rows += [
            (each.transactional_id, node.id, each.producer_id, each.transaction_state)
            for each in answer.transaction_states
            if pattern is None or fnmatch.fnmatchcase(each.transactional_id, pattern)
        ]
    rows.sort()
    columns = ("transactional_id", "coordinator", "producer_id", "state")
    if as_json:
        print_json([dict(zip(columns, row, strict=True)) for row in rows])
    else:
        print_table(("TRANSACTIONAL-ID", "COORDINATOR", "PRODUCER-ID", "STATE"), rows)


@transactions.command(
    "describe",
    epilog="""\b
Examples:
  headwater transactions describe till-1
  headwater transactions describe till-1 till-2 --json""",
)
@click.argument("transactional_ids", metavar="TRANSACTIONAL_ID...", nargs=-1, required=True)
@json_option
@connection_options
def describe(connection: Connection, transactional_ids: tuple[str, ...], as_json: bool) -> None:
    """Show the state of transactional ids and the partitions of their open transactions."""
    from headwater.clients.raw.admin import RawAdmin

    admin = RawAdmin(connection)
    described = [_describe(admin, name) for name in transactional_ids]
    if as_json:
        print_json(described)
        return
    print_table(
        (
            *("TRANSACTIONAL-ID", "COORDINATOR", "PRODUCER-ID", "EPOCH", "STATE", "TIMEOUT-MS"),
            *("STARTED", "RUNNING-MS", "PARTITIONS"),
        ),
        [tuple(each.values()) for each in described],
    )


@transactions.command(
    epilog="""\b
Examples:
  headwater transactions abort till-1
  headwater transactions abort --topic orders --partition 0 --start-offset 4711

With a transactional id, its producer is fenced as if another one had taken over. The second form
is for a transaction that hangs in one partition and that no coordinator knows of any more; the
start offset is the last stable offset, at which read_committed consumers are stuck."""
)
@click.argument("transactional_id", required=False)
@click.option("--topic", help="The topic in which a transaction hangs.")
@click.option("--partition", type=click.IntRange(0, MAX_PARTITION))
@click.option("--start-offset", type=click.IntRange(0), help="The first offset of the transaction.")
@connection_options
def abort(
    connection: Connection,
    transactional_id: str | None,
    topic: str | None,
    partition: int | None,
    start_offset: int | None,
) -> None:
    """Abort the open transaction of an id, or one that hangs in a partition."""
    from headwater.clients.raw.admin import RawAdmin

    place = (topic, partition, start_offset)
    if transactional_id is not None:
        if place != (None, None, None):
            raise click.UsageError("Give a transactional id or a place in a topic, not both.")
        _fence(RawAdmin(connection), transactional_id)
        note(f"Aborted what was open of {transactional_id} and fenced its producer.")
        return
    if topic is None or partition is None or start_offset is None:
        raise click.UsageError(
            "Give a transactional id, or all of --topic, --partition and --start-offset."
        )
    _end_in_partition(RawAdmin(connection), check_topic_name(topic), partition, start_offset)
    note(f"Aborted the transaction that began at offset {start_offset} of {topic}-{partition}.")


def _describe(admin: RawAdmin, transactional_id: str) -> dict[str, Any]:
    from headwater.clients.raw.admin import check
    from headwater.protocol.api_keys import ApiKey
    from headwater.protocol.errors import ErrorCode
    from headwater.protocol.messages import field

    node = admin.coordinator_of(transactional_id)
    answer = admin.ask(
        node, ApiKey.DESCRIBE_TRANSACTIONS, 0, {"transactional_ids": [transactional_id]}
    )
    (state,) = answer.transaction_states
    if state.error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND:
        raise CommandError(
            f"there is no transactional id '{transactional_id}'. See: headwater transactions list"
        )
    check(state.error_code, f"describing '{transactional_id}'")
    started_ms = field(state, "transaction_start_time_ms")
    is_open = state.transaction_state in ("Ongoing", "PrepareCommit", "PrepareAbort")
    return {
        "transactional_id": transactional_id,
        "coordinator": node.id,
        "producer_id": state.producer_id,
        "producer_epoch": state.producer_epoch,
        "state": state.transaction_state,
        "timeout_ms": field(state, "transaction_timeout_ms"),
        "started": _moment(started_ms) if is_open else None,
        "running_ms": time.time_ns() // 1_000_000 - started_ms if is_open else None,
        "partitions": [
            f"{topic.topic}-{index}" for topic in state.topics for index in topic.partitions
        ],
    }


def _fence(admin: RawAdmin, transactional_id: str) -> None:
    from headwater.clients.raw.admin import check
    from headwater.protocol.api_keys import ApiKey
    from headwater.protocol.errors import ErrorCode

    _describe(admin, transactional_id)  # fencing would create an id that does not exist
    deadline = time.monotonic() + _TRY_FOR_S
    while True:
        answer = admin.ask(
            admin.coordinator_of(transactional_id),
            ApiKey.INIT_PRODUCER_ID,
            4,
            {
                "transactional_id": transactional_id,
                "transaction_timeout_ms": _FENCE_TIMEOUT_MS,
                "producer_id": -1,
                "producer_epoch": -1,
            },
        )
        in_progress = answer.error_code == ErrorCode.CONCURRENT_TRANSACTIONS
        if not in_progress or time.monotonic() > deadline:
            break
        # Kafka answers before its abort is complete.
        time.sleep(_TRY_AGAIN_S)
    check(answer.error_code, f"aborting the transaction of '{transactional_id}'")


def _end_in_partition(admin: RawAdmin, topic: str, partition: int, start_offset: int) -> None:
    from headwater.clients.raw.admin import check
    from headwater.protocol.api_keys import ApiKey

    leader = admin.leader_of(topic, partition)
    answer = admin.ask(
        leader,
        ApiKey.DESCRIBE_PRODUCERS,
        0,
        {"topics": [{"name": topic, "partition_indexes": [partition]}]},
    )
    found = answer.topics[0].partitions[0]
    check(found.error_code, f"asking for the producers of {topic}-{partition}")
    open_at = {
        each.current_txn_start_offset: each
        for each in found.active_producers
        if each.current_txn_start_offset >= 0
    }
    if start_offset not in open_at:
        known = ", ".join(str(offset) for offset in sorted(open_at)) or "none"
        raise CommandError(
            f"no open transaction of {topic}-{partition} begins at offset {start_offset}. "
            f"Open ones begin at: {known}"
        )
    producer = open_at[start_offset]
    answer = admin.ask(
        leader,
        ApiKey.WRITE_TXN_MARKERS,
        1,
        {
            "markers": [
                {
                    "producer_id": producer.producer_id,
                    "producer_epoch": producer.producer_epoch,
                    "coordinator_epoch": max(producer.coordinator_epoch, 0),
                    "transaction_result": False,
                    "topics": [{"name": topic, "partition_indexes": [partition]}],
                }
            ]
        },
    )
    result = answer.markers[0].topics[0].partitions[0]
    check(result.error_code, f"aborting the transaction in {topic}-{partition}")


def _moment(epoch_ms: int) -> str:
    return datetime.fromtimestamp(epoch_ms / 1000, UTC).isoformat(timespec="milliseconds")
