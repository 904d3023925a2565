"""MIT's Kerberos library, by its GSSAPI (RFC 2744): what it hands out, each released once.

A service's end of it: keys from a keytab, and the contexts of those who log in. Everything that the
library allocates is counted in `held` until it is given back.
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint32, c_void_p
from functools import cache
from typing import Any
from weakref import finalize

LIBRARY = "libgssapi_krb5.so.2"

_ACCEPT = 2
_BY_GSSAPI, _BY_KERBEROS = 1, 2
"""Whose codes `gss_display_status` explains."""
_CONTINUE = 1
_ERRORS = 0xFFFF_0000
_FAILURE = 13 << 16
"""That something failed; Kerberos' own code says what."""


class KerberosError(Exception):
    """The library refuses; the message is its own."""


class LibraryMissing(Exception):  # noqa: N818 - it says what is the matter
    """There is no such library on this machine."""


class Buffer(ctypes.Structure):
    """Bytes that go in, or that the library has allocated."""

    _fields_ = (("length", c_size_t), ("value", c_void_p))
    lent: bytes
    """What goes in lives as long as its buffer."""


class Oid(ctypes.Structure):
    """The name of a mechanism, or of a kind of names."""

    _fields_ = (("length", c_uint32), ("elements", c_char_p))


class _OidSet(ctypes.Structure):
    _fields_ = (("count", c_size_t), ("elements", POINTER(Oid)))


class _StoreEntry(ctypes.Structure):
    _fields_ = (("key", c_char_p), ("value", c_char_p))


class _Store(ctypes.Structure):
    _fields_ = (("count", c_uint32), ("elements", POINTER(_StoreEntry)))


def _oid(*der: int) -> Oid:
    return Oid(len(der), bytes(der))


KERBEROS = _oid(0x2A, 0x86, 0x48, 0x86, 0xF7, 0x12, 0x01, 0x02, 0x02)
_PRINCIPAL = _oid(0x2A, 0x86, 0x48, 0x86, 0xF7, 0x12, 0x01, 0x02, 0x02, 0x01)


class Gssapi:
    """The library, and how much of what it has allocated was not given back."""

    def __init__(self) -> None:
        try:
            self._library = ctypes.CDLL(LIBRARY)
        except OSError as error:
            raise LibraryMissing(
                f"GSSAPI needs MIT's Kerberos library, and {LIBRARY} cannot be loaded ({error});"
                " install libgssapi-krb5-2 (Debian, Ubuntu) or krb5-libs (Fedora, RHEL)"
            ) from None
        self.held = 0
        """Handles and buffers."""

    def call(self, function: str, *arguments: Any) -> bool:
        """Call a function; True if it wants to be called again. Raises KerberosError."""
        minor = c_uint32()
        called = getattr(self._library, function)
        called.restype = c_uint32
        major = int(called(byref(minor), *arguments))
        if major & _ERRORS:
            raise KerberosError(self._explain(major, minor.value))
        return bool(major & _CONTINUE)

    def taken(self, buffer: Buffer) -> bytes:
        """Copy what the library has allocated, and give it back."""
        if not buffer.value:
            return b""
        self.held += 1
        try:
            return ctypes.string_at(buffer.value, buffer.length)
        finally:
            self.call("gss_release_buffer", byref(buffer))
            self.held -= 1

    def release(self, function: str, handle: c_void_p, *more: Any) -> None:
        """Give a handle back, if there is one."""
        if handle:
            self.call(function, byref(handle), *more)
            self.held -= 1

    def _explain(self, major: int, minor: int) -> str:
        if major & _ERRORS == _FAILURE and minor:
            return self._messages(minor, _BY_KERBEROS)
        said = [self._messages(major, _BY_GSSAPI)]
        if minor:
            said.append(self._messages(minor, _BY_KERBEROS))
        return ": ".join(said)

    def _messages(self, code: int, whose: int) -> str:
        more = c_uint32()
        said = []
        while True:
            buffer = Buffer()
            self.call(
                "gss_display_status", c_uint32(code), c_int(whose), byref(KERBEROS), byref(more),
                byref(buffer),
            )  # fmt: skip
            said.append(self.taken(buffer).decode(errors="replace"))
            if not more.value:
                return "; ".join(said)


@cache
def gssapi() -> Gssapi:
    """Return the library, loaded once; raises LibraryMissing."""
    return Gssapi()


class Name:
    """The name of a principal."""

    def __init__(self, library: Gssapi, handle: c_void_p) -> None:
        self._library = library
        self.handle = handle
        library.held += bool(handle)
        finalize(self, library.release, "gss_release_name", handle)

    @classmethod
    def parse(cls, library: Gssapi, principal: str) -> Name:
        """Take a name apart; without a realm it is in the default one."""
        handle = c_void_p()
        text = lend(principal.encode())
        library.call("gss_import_name", byref(text), byref(_PRINCIPAL), byref(handle))
        as_written, whole = cls(library, handle), c_void_p()
        library.call("gss_canonicalize_name", as_written.handle, byref(KERBEROS), byref(whole))
        return cls(library, whole)

    def __str__(self) -> str:
        buffer = Buffer()
        self._library.call("gss_display_name", self.handle, byref(buffer), None)
        return self._library.taken(buffer).decode(errors="replace")


class Credential:
    """A service's keys."""

    def __init__(self, library: Gssapi, principal: str, keytab: str) -> None:
        name = Name.parse(library, principal)
        self.principal = str(name)
        self.handle = c_void_p()
        entry = _StoreEntry(b"keytab", keytab.encode())
        mechanisms = _OidSet(1, ctypes.pointer(KERBEROS))
        library.call(
            "gss_acquire_cred_from", name.handle, c_uint32(0), byref(mechanisms), c_int(_ACCEPT),
            byref(_Store(1, ctypes.pointer(entry))), byref(self.handle), None, None,
        )  # fmt: skip
        library.held += 1
        finalize(self, library.release, "gss_release_cred", self.handle)


class Context:
    """What a service and one client have agreed on, or are agreeing on."""

    def __init__(self, library: Gssapi, credential: Credential) -> None:
        self._library = library
        self._credential = credential
        self._handle = c_void_p()
        self.is_established = False
        self.peer = ""
        """Who the client is, once the context is established."""
        finalize(self, library.release, "gss_delete_sec_context", self._handle, None)

    def accept(self, token: bytes) -> bytes:
        """Take a token of the client's, and return what it has to be told."""
        library, had_one = self._library, bool(self._handle)
        name, answer = c_void_p(), Buffer()
        try:
            wants_more = library.call(
                "gss_accept_sec_context", byref(self._handle), self._credential.handle,
                byref(lend(token)), None, byref(name), None, byref(answer), None, None, None,
            )  # fmt: skip
        finally:
            # Also where it fails it may have allocated any of these.
            library.held += bool(self._handle) - had_one
            peer = Name(library, name)
            said = library.taken(answer)
        if not wants_more:
            self.peer = str(peer)
            self.is_established = True
        return said

    def wrap(self, message: bytes) -> bytes:
        """Sign a message."""
        buffer = Buffer()
        self._library.call(
            "gss_wrap", self._handle, c_int(0), c_uint32(0), byref(lend(message)), None,
            byref(buffer),
        )  # fmt: skip
        return self._library.taken(buffer)

    def unwrap(self, message: bytes) -> bytes:
        """Return a message that the other end has signed."""
        buffer = Buffer()
        self._library.call(
            "gss_unwrap", self._handle, byref(lend(message)), byref(buffer), None, None
        )
        return self._library.taken(buffer)


def lend(data: bytes) -> Buffer:
    """Lend bytes to the library for a call."""
    buffer = Buffer(len(data), ctypes.cast(c_char_p(data), c_void_p))
    buffer.lent = data
    return buffer
