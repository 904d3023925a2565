"""The settings that Kafka does not have."""

from __future__ import annotations

from headwater.config import ConfigDef, ConfigType, UpdateMode, at_least, between, one_of

SETTINGS = (
    ConfigDef(
        "flush",
        ConfigType.STRING,
        "fsync",
        "When a record counts as written: fsync waits until it is on disk, os until the operating"
        " system has it, which loses the last records when the machine (not the broker) fails.",
        one_of("fsync", "os"),
    ),
    ConfigDef(
        "headwater.journal.bytes",
        ConfigType.LONG,
        256 * 1024 * 1024,
        "With flush=fsync, how many bytes the journal may take, which makes one flush of all"
        " partitions; 0 for none, so that each partition's files are flushed before the answer.",
        at_least(0),
    ),
    ConfigDef(
        "headwater.replication.factor.clamp",
        ConfigType.BOOLEAN,
        True,
        "Whether a replication factor above one is taken as one; false refuses it, as Kafka with a"
        " single broker does.",
    ),
    ConfigDef(
        "headwater.metrics.port",
        ConfigType.INT,
        -1,
        "The port at which Prometheus finds the broker's metrics, 0 for a free one, -1 for none.",
        between(-1, 65_535),
    ),
    ConfigDef(
        "headwater.metrics.host",
        ConfigType.STRING,
        None,
        "The address of the metrics' port, which asks nobody who they are; by default that of the"
        " first listener if it is in plain text, else 127.0.0.1.",
    ),
    ConfigDef(
        "headwater.authentication.timeout.ms",
        ConfigType.INT,
        30_000,
        "How long a client may take from connecting until TLS and SASL are done with.",
        at_least(1),
    ),
    ConfigDef(
        "headwater.bootstrap.file",
        ConfigType.STRING,
        None,
        "A file with the users and ACLs that a broker begins with which has none of either, as"
        " `headwater security init` writes it.",
    ),
    ConfigDef(
        "headwater.certificates.check.interval.ms",
        ConfigType.INT,
        10_000,
        "How often the files with certificates are looked at, to take new ones over.",
        at_least(10),
    ),
    ConfigDef(
        "headwater.ssl.crl.location",
        ConfigType.STRING,
        None,
        "A file in PEM format with lists of revoked certificates (CRLs), one of each authority that"
        " signs clients' certificates; clients whose certificate is on one are not let in.",
        update=UpdateMode.PER_BROKER,
    ),
)
