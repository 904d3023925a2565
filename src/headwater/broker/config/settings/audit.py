"""The settings of the audit log."""

from __future__ import annotations

from headwater.config import ConfigDef, ConfigType, at_least

SETTINGS = (
    ConfigDef(
        "headwater.audit.file",
        ConfigType.STRING,
        None,
        "A file for the audit log, as JSON lines: who did what to which resource, and whether it"
        " was allowed; and who logged in.",
    ),
    ConfigDef(
        "headwater.audit.topic",
        ConfigType.STRING,
        None,
        "A topic for the audit log, beside the file or instead of it; made if there is none.",
    ),
    ConfigDef(
        "headwater.audit.sample.interval.ms",
        ConfigType.INT,
        60_000,
        "How often reading, writing, describing and logging in is told for the same client,"
        " operation and resource, with a count; 0 tells each time, as it is with changes.",
        at_least(0),
    ),
    ConfigDef(
        "headwater.audit.file.max.bytes",
        ConfigType.LONG,
        100 * 1024 * 1024,
        "How large the audit file becomes before it is renamed and a new one begun.",
        at_least(1024),
    ),
    ConfigDef(
        "headwater.audit.file.backups",
        ConfigType.INT,
        9,
        "How many renamed audit files are kept.",
        at_least(0),
    ),
)
