"""Spark's long reports as one line."""

from __future__ import annotations

import pytest
from py4j.protocol import Py4JError, Py4JNetworkError  # type: ignore[import-untyped]

from headwater.spark.jobs.failures import failure_of


def test_a_malformed_record_is_named() -> None:
    text = (
        "Job aborted\nCaused by: X: headwater: malformed record, t [0] at offset 6, value: bad\n\t"
    )
    failure = failure_of(RuntimeError(text))
    assert failure.reason.startswith("malformed record, t [0] at offset 6, value: bad; ")
    assert "dead_letter" in failure.reason, "it says what to do"
    assert not failure.may_pass
    assert not failure.is_nameless


def test_a_plan_that_could_meet_malformed_records_is_none() -> None:
    plan = "raise_error(concat(headwater: malformed record, , topic#1,  [, cast(partition#2 as int)"
    failure = failure_of(RuntimeError(f"{plan}\nCaused by: c.TimeoutException: no broker\n\tat x"))
    assert failure.reason == "no broker"
    assert failure.may_pass


def test_spark_does_not_name_a_record_that_is_no_json() -> None:
    text = "[MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION] Malformed records are detected"
    failure = failure_of(RuntimeError(text))
    assert failure.is_nameless
    assert not failure.may_pass


def test_a_new_schema_is_found_in_the_failure() -> None:
    failure = failure_of(RuntimeError("[USER] headwater: schema id 7 is new in orders-value"))
    assert failure.new_schema == (7, "orders-value")
    assert failure.may_pass


def test_a_users_function_is_named_with_its_line() -> None:
    text = (
        "[PYTHON_EXCEPTION] oh\nTraceback (most recent call last):\n"
        '  File "app.py", line 3, in double\n    return 1 / 0\n'
        "ZeroDivisionError: division by zero\n"
    )
    failure = failure_of(RuntimeError(text))
    assert failure.reason == (
        'ZeroDivisionError: division by zero (File "app.py", line 3, in double)'
    )
    assert not failure.may_pass


def test_the_innermost_cause_is_told_and_tried_again() -> None:
    text = "Job aborted\nCaused by: a.B: outer\nCaused by: c.TimeoutException: no broker\n\tat x"
    failure = failure_of(RuntimeError(text))
    assert failure.reason == "no broker"
    assert failure.may_pass


@pytest.mark.parametrize(
    "error",
    [
        ConnectionRefusedError(111, "Connection refused"),
        Py4JNetworkError("Answer from Java side is empty"),
        Py4JError("An error occurred while calling o697.isActive"),
    ],
)
def test_a_jvm_that_is_gone_does_not_come_back(error: Exception) -> None:
    failure = failure_of(error)
    assert failure.reason.startswith("Spark's JVM has ended")
    assert not failure.may_pass


def test_a_jvm_that_answers_is_there() -> None:
    text = "An error occurred while calling o1.x. Trace:\npy4j.Py4JException: no method x\n"
    assert "JVM has ended" not in failure_of(Py4JError(text)).reason


@pytest.mark.parametrize("text", ["[A_B.C] what SQLSTATE: 42K09", "what"])
def test_conditions_and_states_are_left_out(text: str) -> None:
    assert failure_of(RuntimeError(text)).reason == "what"


def test_the_state_of_another_program_does_not_pass() -> None:
    text = "[STATE] Provided value schema does not match existing state value schema."
    failure = failure_of(RuntimeError(text))
    assert not failure.may_pass
    assert "start afresh with a new --checkpoint-dir" in failure.reason


def test_state_that_real_time_mode_does_not_read_does_not_pass() -> None:
    text = "Real-time mode does not support state store checkpoint format v1, because a"
    failure = failure_of(RuntimeError(text))
    assert not failure.may_pass
    assert "spark.headwater.realTime=false" in failure.reason


def test_a_checkpoint_without_its_markers_does_not_pass() -> None:
    text = "query 'app-r': nothing says whether batch 4 was written before. Its markers expired"
    assert not failure_of(RuntimeError(text)).may_pass
