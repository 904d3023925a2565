"""What every format has in common: one value at a time, or a whole batch of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from headwater.serde.context import Context, as_context, context_of
from headwater.serde.errors import (
    DeserializationError,
    RegistryError,
    RegistryUnreachableError,
    SerdeError,
    SerializationError,
    describe,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from headwater.serde.context import ConsumedMessage, ContextLike, Headers

Value = TypeVar("Value")


class Serializer(ABC, Generic[Value]):
    """Turns values into bytes. None stays None: it is a tombstone, or a record without a key.

    The context is the topic's name, or a Context; confluent-kafka's SerializingProducer can call
    a serialiser of this package as it calls its own.
    """

    def __call__(self, value: Value | None, context: ContextLike = None) -> bytes | None:
        """Return a value's bytes; raises SerializationError where it has none."""
        if value is None:
            return None
        place = as_context(context)
        encode = self._encoder(place)
        try:
            return encode(value)
        except SerdeError:
            raise
        except Exception as failure:
            raise SerializationError(f"{place}: {describe(failure)}") from failure

    def encode_many(
        self, values: Iterable[Value | None], context: ContextLike = None
    ) -> list[bytes | None]:
        """Return the bytes of many values of one topic, at the cost of little more than them."""
        place = as_context(context)
        encode = self._encoder(place)
        encoded: list[bytes | None] = []
        try:
            encoded.extend(None if value is None else encode(value) for value in values)
        except Exception as failure:
            raise SerializationError(
                f"{place}: value {len(encoded)} of the batch: {describe(failure)}"
            ) from failure
        return encoded

    @abstractmethod
    def _encoder(self, context: Context) -> Callable[[Value], bytes]:
        """Return what encodes values of this topic and field."""


class Deserializer(ABC, Generic[Value]):
    """Turns bytes into values. DeserializationError says where a malformed payload is."""

    def __call__(self, data: bytes | None, context: ContextLike = None) -> Value | None:
        """Return the value of some bytes; None stays None."""
        if data is None:
            return None
        place = as_context(context)
        try:
            return self._decode(data, place)
        except _NOT_THE_PAYLOADS_FAULT:
            raise
        except Exception as failure:
            raise DeserializationError(place, describe(failure)) from failure

    def value_of(self, message: ConsumedMessage) -> Value | None:
        """Return the value of a consumed message; an error names its partition and offset."""
        return self(message.value(), context_of(message, "value"))

    def key_of(self, message: ConsumedMessage) -> Value | None:
        """Return the key of a consumed message; an error names its partition and offset."""
        return self(message.key(), context_of(message, "key"))

    def decode_many(
        self,
        payloads: Iterable[bytes | None],
        context: ContextLike = None,
        *,
        partitions: Sequence[int] | None = None,
        offsets: Sequence[int] | None = None,
        headers: Sequence[Headers | None] | None = None,
        on_error: Callable[[DeserializationError], Any] | None = None,
    ) -> list[Any]:
        """Return the values of many payloads of one topic.

        Partitions, offsets and headers stand beside the payloads, as columns do. What `on_error`
        returns takes the place of a malformed payload; without it, the first one ends the batch.
        """
        place = as_context(context)
        decode = self._decode
        decoded: list[Any] = []
        for index, data in enumerate(payloads):
            if data is None:
                decoded.append(None)
                continue
            if headers is not None:
                place = replace(place, headers=headers[index])
            try:
                decoded.append(decode(data, place))
            except _NOT_THE_PAYLOADS_FAULT:
                raise
            except Exception as failure:
                where = replace(
                    place,
                    partition=place.partition if partitions is None else partitions[index],
                    offset=place.offset if offsets is None else offsets[index],
                )
                malformed = DeserializationError(where, describe(failure))
                if on_error is None:
                    raise malformed from failure
                decoded.append(on_error(malformed))
        return decoded

    @abstractmethod
    def _decode(self, data: bytes, context: Context) -> Value:
        """Decode one payload; whatever it raises is what is wrong with the payload."""


_NOT_THE_PAYLOADS_FAULT = (RegistryError, RegistryUnreachableError)
