"""One request's way through its client's quotas, with a connection that notes how it is muted."""

from __future__ import annotations

from headwater.broker.config import BrokerConfig
from headwater.broker.quotas.client_quotas import ClientQuotas
from headwater.broker.quotas.entity import entity_of
from headwater.broker.quotas.request_throttle import RequestThrottle
from headwater.broker.session import ANONYMOUS, Session
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode, KafkaError
from headwater.protocol.frames import RequestHeader

EVERYBODY = entity_of({"user": ANONYMOUS.name})
TEN_SECONDS = 10
"""What a client may use at once, in seconds of its bound."""


class Muted:
    """A connection's place."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def mute(self, seconds: float) -> None:
        self.seconds.append(seconds)


class Client:
    """Sends requests under one set of quotas."""

    def __init__(self, **values: float) -> None:
        self.quotas = ClientQuotas(BrokerConfig({"listeners": "PLAINTEXT://127.0.0.1:0"}))
        self.quotas.update({EVERYBODY: values})
        self.connection = Muted()

    def send(self, api_key: ApiKey, version: int, size: int = 100) -> RequestThrottle:
        header = RequestHeader(api_key, version, 1, "app", 0)
        session = Session("PLAINTEXT", "PLAINTEXT", "127.0.0.1", 5)
        return RequestThrottle(self.quotas, self.connection, session, header, size)


def body_of(milliseconds: int) -> bytes:
    return milliseconds.to_bytes(4, "big") + b"the rest"


def test_requests_are_looked_at_only_where_something_limits_them() -> None:
    assert not Client().quotas.limits_requests
    for key in (
        "producer_byte_rate",
        "consumer_byte_rate",
        "request_percentage",
        "controller_mutation_rate",
    ):
        client = Client(**{key: 5.0})
        assert client.quotas.limits_requests
        client.quotas.update({EVERYBODY: {}})
        assert not client.quotas.limits_requests
    client.quotas.update({entity_of({"ip": None}): {"connection_creation_rate": 5.0}})
    assert not client.quotas.limits_requests


def test_a_produce_above_the_quota_is_muted_at_once_and_told_in_its_answer() -> None:
    client = Client(producer_byte_rate=1000.0)
    within = client.send(ApiKey.PRODUCE, 8, size=TEN_SECONDS * 1000)
    within.handled()
    assert within.answered(bytes(8)) == bytes(8)
    assert client.connection.seconds == []

    above = client.send(ApiKey.PRODUCE, 8, size=5000)
    above.handled()
    (seconds,) = client.connection.seconds
    assert 0 < seconds <= 5
    assert above.answered(bytes(8)) == bytes(4) + round(seconds * 1000).to_bytes(4, "big")
    assert client.connection.seconds == [seconds]


def test_a_response_has_room_for_any_time_to_wait() -> None:
    client = Client(producer_byte_rate=1.0)
    request = client.send(ApiKey.PRODUCE, 8, size=100_000_000)
    request.handled()
    assert request.answered(bytes(8)) == bytes(4) + (2**31 - 1).to_bytes(4, "big")


def test_a_produce_that_wants_no_answer_is_muted_all_the_same() -> None:
    client = Client(producer_byte_rate=1000.0)
    request = client.send(ApiKey.PRODUCE, 8, size=20_000)
    request.handled()
    assert request.answered(None) is None
    assert client.connection.seconds == [10]


def test_a_fetch_above_the_quota_is_not_counted_and_has_to_wait() -> None:
    client = Client(consumer_byte_rate=1000.0)
    assert client.send(ApiKey.FETCH, 12).most_fetch_bytes() == TEN_SECONDS * 1000
    assert client.send(ApiKey.FETCH, 12).admit_fetch(TEN_SECONDS * 1000) == 0
    for _ in range(3):
        refused = client.send(ApiKey.FETCH, 12)
        throttle_ms = refused.admit_fetch(5000)
        refused.handled()
        assert 0 < throttle_ms <= 5000  # and not more each time
        assert refused.answered([b"as it is"]) == [b"as it is"]
    assert len(client.connection.seconds) == 3


def test_without_a_quota_of_its_own_a_fetch_is_not_limited() -> None:
    client = Client(producer_byte_rate=1000.0)
    assert client.send(ApiKey.FETCH, 12).most_fetch_bytes() == float("inf")
    assert client.send(ApiKey.FETCH, 12).admit_fetch(10**9) == 0


def test_time_above_the_quota_is_told_in_any_answer_and_never_more_than_a_window() -> None:
    client = Client(request_percentage=1e-9)
    request = client.send(ApiKey.LIST_OFFSETS, 5)
    request.handled()
    assert request.answered(body_of(0)) == body_of(1000)
    assert client.connection.seconds == [1]
    # A version that has no place for it is muted too.
    old = client.send(ApiKey.LIST_OFFSETS, 1)
    old.handled()
    assert old.answered(body_of(0)) == body_of(0)
    assert client.connection.seconds == [1, 1]
    # A fetch learns of it from the next one on, when there is nothing read yet.
    assert client.send(ApiKey.FETCH, 12).admit_fetch(0) == 1000


def test_what_brokers_say_to_each_other_costs_no_time() -> None:
    client = Client(request_percentage=1e-9)
    request = client.send(ApiKey.WRITE_TXN_MARKERS, 1)
    request.handled()
    assert request.answered(body_of(0)) == body_of(0)
    assert client.connection.seconds == []


def mutate(request: RequestThrottle, partitions: int, *, strict: bool) -> ErrorCode:
    try:
        request.charge_mutation(partitions, strict=strict)
    except KafkaError as error:
        return error.code
    return ErrorCode.NONE


def test_changes_of_topics_above_the_quota_are_refused_and_told_when_to_try_again() -> None:
    client = Client(controller_mutation_rate=1.0)
    request = client.send(ApiKey.CREATE_TOPICS, 7)
    # The bucket holds eleven, and whoever finds it not below zero may take what they want.
    codes = [mutate(request, 10, strict=True) for _ in range(3)]
    assert codes == [ErrorCode.NONE, ErrorCode.NONE, ErrorCode.THROTTLING_QUOTA_EXCEEDED]
    request.handled()
    answer = request.answered(body_of(0))
    assert isinstance(answer, bytes)
    assert 0 < int.from_bytes(answer[:4], "big") <= 9000
    assert len(client.connection.seconds) == 1


def test_clients_too_old_for_that_refusal_are_served_and_muted() -> None:
    client = Client(controller_mutation_rate=1.0)
    request = client.send(ApiKey.CREATE_TOPICS, 5)
    assert mutate(request, 20, strict=False) == ErrorCode.NONE
    request.handled()
    request.answered(body_of(0))
    (seconds,) = client.connection.seconds
    assert 0 < seconds <= 9
