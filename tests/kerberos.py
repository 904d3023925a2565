"""A real Kerberos: a KDC on a free port of loopback, with keytabs and tickets in a folder."""

from __future__ import annotations

import ctypes
import os
import shutil
import socket
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.waiting import HUNG_AFTER_S, wait_for

from headwater.broker.sasl.kerberos_library import (
    KERBEROS,
    Buffer,
    Gssapi,
    Name,
    lend,
)
from headwater.processes.child import ChildProcess
from headwater.processes.ports import FreePorts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

REALM = "PLANT.TEST"
SERVICE = f"kafka/127.0.0.1@{REALM}"
# Java's clients look for the name of the address that they are connected to, whatever they were
# given, and krb5.conf says.
JAVAS_SERVICE = f"kafka/{socket.getnameinfo(('127.0.0.1', 0), 0)[0]}@{REALM}"

_PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"])
_KRB5_CONF = """\
[libdefaults]
 default_realm = {realm}
 dns_lookup_kdc = false
 dns_lookup_realm = false
 dns_canonicalize_hostname = false
 rdns = false
 udp_preference_limit = 1
 default_ccache_name = FILE:{folder}/nobody.cc
 {more}
[realms]
 {realm} = {{
  kdc = 127.0.0.1:{port}
 }}
[domain_realm]
 127.0.0.1 = {realm}
"""
_KDC_CONF = """\
[kdcdefaults]
 kdc_listen = 127.0.0.1:{port}
 kdc_tcp_listen = 127.0.0.1:{port}
[realms]
 {realm} = {{
  database_name = {folder}/principals
  key_stash_file = {folder}/stash
  acl_file = {folder}/acl
 }}
[logging]
 kdc = STDERR
"""


class Kdc:
    """A key distribution centre of the realm PLANT.TEST."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ports = FreePorts("127.0.0.1")
        self._port = self._ports.pick()
        self._server: ChildProcess | None = None
        self.config = self.write_config("krb5.conf")
        (folder / "kdc.conf").write_text(
            _KDC_CONF.format(realm=REALM, folder=folder, port=self._port)
        )

    def write_config(self, name: str, more: str = "") -> Path:
        """Write what clients and services are told, with more settings, and return the file."""
        file = self.folder / name
        file.write_text(
            _KRB5_CONF.format(realm=REALM, folder=self.folder, port=self._port, more=more)
        )
        return file

    @property
    def environment(self) -> dict[str, str]:
        """Where everybody who uses this realm looks."""
        return {
            "KRB5_CONFIG": str(self.config),
            "KRB5_KDC_PROFILE": str(self.folder / "kdc.conf"),
            # What was seen of replays is kept beside the rest.
            "KRB5RCACHENAME": f"file2:{self.folder}/replays",
        }

    def start(self) -> Kdc:
        """Make the realm, and wait until it answers."""
        self._run("kdb5_util", "create", "-s", "-r", REALM, "-P", "the master's")
        program = shutil.which("krb5kdc", path=_PATH)
        assert program is not None, "krb5kdc is not installed"
        self._server = ChildProcess(
            [program, "-n", "-r", REALM], environment={**os.environ, **self.environment}
        )
        wait_for(self._answers)
        return self

    def keytab(self, *principals: str) -> Path:
        """Make principals with random keys, and return a file with these."""
        file = self.folder / f"{principals[0].replace('/', '-')}.keytab"
        for principal in principals:
            self._run("kadmin.local", "-r", REALM, "addprinc", "-randkey", principal)
            self.new_keys(principal, file)
        return file

    def new_keys(self, principal: str, keytab: Path) -> None:
        """Give a principal other keys, and write them to a file."""
        self._run("kadmin.local", "-r", REALM, "ktadd", "-k", str(keytab), principal)

    def tickets(self, keytab: Path, principal: str, *options: str) -> Path:
        """Log a client in, and return the file with its tickets."""
        name = "".join((principal, *options)).replace("/", "-")
        cache = self.folder / f"{name}.cc"
        self._run("kinit", "-k", "-t", str(keytab), "-c", str(cache), *options, principal)
        return cache

    def stop(self) -> None:
        """Stop it, and give the port back."""
        if self._server is not None:
            self._server.stop(within_s=HUNG_AFTER_S)
        self._ports.close()

    def _answers(self) -> bool:
        with socket.socket() as asking:
            return asking.connect_ex(("127.0.0.1", self._port)) == 0

    def _run(self, program: str, *arguments: str) -> None:
        found = shutil.which(program, path=_PATH)
        assert found is not None, f"{program} is not installed"
        done = subprocess.run(
            [found, *arguments], env={**os.environ, **self.environment}, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            timeout=HUNG_AFTER_S, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout


class Ticket:
    """A client's end of GSSAPI, with the tickets of a file."""

    def __init__(self, library: Gssapi, cache: Path, service: str = SERVICE) -> None:
        self._library = library
        self._cache = cache
        self._service = Name.parse(library, service)
        self._context = ctypes.c_void_p()

    def token(self, answer: bytes = b"") -> bytes:
        """Return the next token; the service's answer to the last one is checked."""
        token = Buffer()
        flags = ctypes.c_uint32(2 | 32)  # mutual authentication, integrity
        with _environment(KRB5CCNAME=str(self._cache)):
            self._library.call(
                "gss_init_sec_context", None, ctypes.byref(self._context), self._service.handle,
                ctypes.byref(KERBEROS), flags, ctypes.c_uint32(0), None,
                ctypes.byref(lend(answer)) if answer else None, None, ctypes.byref(token), None,
                None,
            )  # fmt: skip
        return self._library.taken(token)

    def offer(self, message: bytes) -> bytes:
        """Return what the service offers, once its signature is checked."""
        buffer = Buffer()
        self._library.call(
            "gss_unwrap", self._context, ctypes.byref(lend(message)), ctypes.byref(buffer), None,
            None,
        )  # fmt: skip
        return self._library.taken(buffer)

    def choice(self, layer: int, identity: bytes = b"") -> bytes:
        """Return the signed choice of a protection."""
        return self.wrapped(bytes((layer, 0, 0, 0)) + identity)

    def wrapped(self, message: bytes) -> bytes:
        """Return a signed message."""
        buffer = Buffer()
        self._library.call(
            "gss_wrap", self._context, ctypes.c_int(0), ctypes.c_uint32(0),
            ctypes.byref(lend(message)), None, ctypes.byref(buffer),
        )  # fmt: skip
        return self._library.taken(buffer)

    def __del__(self) -> None:
        if self._context:
            self._library.call("gss_delete_sec_context", ctypes.byref(self._context), None)


@contextmanager
def _environment(**names: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(names)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
