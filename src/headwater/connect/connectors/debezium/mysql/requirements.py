"""What the server has to be set to, so that the binlog tells all about a change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.connect.connectors.connector import ConnectorError

if TYPE_CHECKING:
    from headwater.connect.connectors.debezium.mysql.connection import MySqlConnection

_NEEDED = {
    "log_bin": ("ON", "the server writes no binlog"),
    "binlog_format": ("ROW", "statements do not tell which rows they changed"),
    "binlog_row_image": ("FULL", "rows would not be whole"),
    "binlog_row_metadata": ("FULL", "the binlog would not have the names of columns"),
}
_REFUSED = {
    "log_bin_compress": "compressed events of MariaDB cannot be read",
    "binlog_transaction_compression": "compressed transactions of MySQL cannot be read",
}
_AT_START = frozenset({"log_bin"})


def check_server(connection: MySqlConnection) -> None:
    """Raise ConnectorError with all that has to be changed, and how."""
    wrong: list[str] = []
    for name, (needed, why) in _NEEDED.items():
        found = connection.variable(name)
        if (found or "").upper() != needed:
            shown = "not known to this version" if found is None else found
            wrong.append(f"{name} is {shown}, not {needed}: {why}; {_cure(name, needed)}")
    for name, why in _REFUSED.items():
        if (connection.variable(name) or "OFF").upper() == "ON":
            wrong.append(f"{name} is ON: {why}; {_cure(name, 'OFF')}")
    if "PARTIAL_JSON" in (connection.variable("binlog_row_value_options") or "").upper():
        wrong.append("binlog_row_value_options is PARTIAL_JSON: JSON would not be whole; empty it")
    if wrong:
        raise ConnectorError("the server cannot be captured: " + "; ".join(wrong))


def _cure(name: str, value: str) -> str:
    if name in _AT_START:
        return f"start the server with {name.replace('_', '-')}"
    return (
        f"SET GLOBAL {name} = '{value}', and in the server's configuration; then reconnect clients"
    )
