from __future__ import annotations

import kio.schema.errors

from headwater.protocol.errors import ErrorCode, KafkaError


def test_knows_every_code_of_kafka_by_name_and_by_number() -> None:
    ours = {code.name: int(code) for code in ErrorCode}
    theirs = {code.name.upper(): int(code.value) for code in kio.schema.errors.ErrorCode}
    assert {name: ours.get(name) for name in theirs} == theirs


def test_knows_which_errors_pass() -> None:
    for code in kio.schema.errors.ErrorCode:
        assert ErrorCode(code.value).retriable == code.retriable, code.name


def test_an_error_carries_what_the_client_is_told() -> None:
    error = KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "The disk is full.")
    assert (error.code, error.message, str(error)) == (56, "The disk is full.", "The disk is full.")
    assert error.retriable


def test_an_error_without_a_message_is_still_readable() -> None:
    error = KafkaError(ErrorCode.UNKNOWN_TOPIC_ID)
    assert error.message is None
    assert str(error) == "UNKNOWN_TOPIC_ID"
