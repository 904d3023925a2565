"""Why a query failed, in one line, and whether to try again."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from py4j.protocol import (  # type: ignore[import-untyped]
    Py4JError,
    Py4JJavaError,
    Py4JNetworkError,
)

from headwater.spark.formats.schemas import NewSchema

_CAUSE = re.compile(r"^Caused by: ([\w.$]+): ?(.*)$", re.MULTILINE)
_CONDITION = re.compile(r"^\[[A-Z_.0-9]+\] ?")
# With a place: Spark's message can have the query's plan in it, which has the words alone.
_MALFORMED = re.compile(r"headwater: (malformed record, [^\s,]+ \[\d+\] at offset \d+, .*)")
_STATE = re.compile(r" SQLSTATE: \w+\s*$")
_LONGEST = 600

_NAMELESS = (
    "MALFORMED_RECORD_IN_PARSING",
    "MALFORMED_AVRO_MESSAGE",
    "Malformed records are detected",
)

# Records that the checkpoint has still to read are not in their topic any more.
_GONE = re.compile(r"Some data may have been lost.*?Reason: (?P<what>[^\n]+)", re.DOTALL)
_AFRESH = (
    "were they removed by retention, or was the topic made again? A new --checkpoint-dir starts "
    "with what is there"
)

_OTHER_STATE = re.compile(r"Provided (?:key|value) schema does not match existing state")
_CHANGED = (
    "the state in the checkpoint was kept by a program that computed something else, or with "
    "another guarantee: go back to that one, or start afresh with a new --checkpoint-dir"
)

_OTHER_FORMAT = "does not support state store checkpoint format v1"
_NOT_REAL_TIME = (
    "the state in the checkpoint has a format that real-time mode does not read: go on without it "
    "(--conf spark.headwater.realTime=false), or start afresh with a new --checkpoint-dir"
)

# What the same program will meet again at the same record.
_HOPELESS = (
    *_NAMELESS,
    "PythonException",
    "PYTHON_EXCEPTION",
    "DIVIDE_BY_ZERO",
    "CAST_INVALID_INPUT",
    "CAST_OVERFLOW",
    "ARITHMETIC_OVERFLOW",
    "the buffer of suppress is full",
    # Of a checkpoint that does not fit the topics, or the program.
    "nothing says whether batch ",
    ": the checkpoint is at batch ",
    "sources in the checkpoint offsets and now there are",
)


_JVM_GONE = (
    "Spark's JVM has ended; where its memory was too small, give it more with "
    "--conf spark.driver.memory=4g"
)


@dataclass(frozen=True)
class Failure:
    """What ended a query."""

    reason: str
    may_pass: bool
    new_schema: NewSchema | None = None
    is_nameless: bool = False
    """A record is malformed, and Spark does not say which."""
    is_end_of_jvm: bool = False
    """Not the query has failed, but all that ran beside it in Spark, too."""
    detail: str = ""
    """All that Spark said."""


def failure_of(error: BaseException) -> Failure:
    """Find the cause under the layers that Spark puts around it."""
    if _is_end_of_jvm(error):
        return Failure(_JVM_GONE, may_pass=False, is_end_of_jvm=True, detail=repr(error))
    text = str(error)
    stack = getattr(error, "getStackTrace", lambda: None)() or ""
    stack = getattr(error, "_stackTrace", None) or stack
    everything = f"{text}\n{stack}".strip()
    return replace(_judged(everything, text), detail=everything)


def malformed_record(place_and_reason: str) -> str:
    """Say what can be done about a record that cannot be decoded."""
    return (
        f"{place_and_reason}; with dead_letter='TOPIC' at its source, such records go to that topic"
    )


def _judged(everything: str, text: str) -> Failure:
    new = NewSchema.found_in(everything)
    if new is not None:
        return Failure(f"schema id {new.id} is new in {new.subject}", True, new)
    gone = _GONE.search(everything)
    if gone is not None:
        what = _shortened(gone["what"])
        return Failure(f"records are gone before they were read: {what} ({_AFRESH})", False)
    malformed = _MALFORMED.search(everything)
    if malformed is not None:
        return Failure(malformed_record(_shortened(malformed[1])), may_pass=False)
    if _OTHER_STATE.search(everything):
        return Failure(_CHANGED, may_pass=False)
    if _OTHER_FORMAT in everything:
        return Failure(_NOT_REAL_TIME, may_pass=False)
    may_pass = not any(mark in everything for mark in _HOPELESS)
    nameless = any(mark in everything for mark in _NAMELESS)
    return Failure(_one_line(everything, text), may_pass, is_nameless=nameless)


def _is_end_of_jvm(error: BaseException) -> bool:
    if isinstance(error, Py4JNetworkError | ConnectionError):
        return True
    # What py4j makes of a connection that ends in the middle of a call; if Java has something to
    # say, it is there as an exception or as a trace.
    is_java = isinstance(error, Py4JJavaError) or "Trace:" in str(error)
    return isinstance(error, Py4JError) and not is_java


def _one_line(everything: str, text: str) -> str:
    causes = _CAUSE.findall(everything)
    python = _python_error(everything)
    if python:
        return _shortened(python)
    message = causes[-1][1] if causes and causes[-1][1] else text
    name = causes[-1][0].rpartition(".")[2] if causes else type(text).__name__
    first = next((line for line in message.splitlines() if line.strip()), name)
    return _shortened(first)


def _python_error(everything: str) -> str | None:
    """Return the last line of a Python traceback, which names the error, and where it was."""
    start = everything.find("Traceback (most recent call last)")
    if start < 0:
        return None
    lines = everything[start:].splitlines()
    places = [line.strip() for line in lines if line.startswith("  File ")]
    for line in lines[1:]:
        if line and not line.startswith((" ", "\t")):
            return f"{line} ({places[-1]})" if places else line
    return None


def _shortened(text: str) -> str:
    plain = _STATE.sub("", _CONDITION.sub("", text.strip()))
    return plain if len(plain) <= _LONGEST else f"{plain[:_LONGEST]}..."
