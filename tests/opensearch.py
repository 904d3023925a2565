"""A real OpenSearch for tests: one node, by its Maven coordinates, on free ports of loopback."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
from tests.waiting import HUNG_AFTER_S

from headwater.java.artifacts import fetch
from headwater.java.runtime import find_java
from headwater.processes.child import ChildProcess
from headwater.processes.ports import FreePorts

_SOURCE = Path(__file__).with_name("OpenSearchNode.java")
_OPENSEARCH, _LUCENE, _NETTY, _LOG4J = "2.19.1", "9.12.1", "4.1.118.Final", "2.21.0"
_LIBRARIES = (
    *(
        f"org.opensearch:opensearch{name}:{_OPENSEARCH}"
        for name in (
            "", "-cli", "-common", "-compress", "-core", "-geo", "-secure-sm", "-task-commons",
            "-telemetry", "-x-content",
        )
    ),
    f"org.opensearch.plugin:transport-netty4-client:{_OPENSEARCH}",
    *(
        f"org.apache.lucene:lucene-{name}:{_LUCENE}"
        for name in (
            "analysis-common", "backward-codecs", "core", "grouping", "highlighter", "join",
            "memory", "misc", "queries", "queryparser", "sandbox", "spatial-extras", "spatial3d",
            "suggest",
        )
    ),
    *(
        f"io.netty:netty-{name}:{_NETTY}"
        for name in (
            "buffer", "codec", "codec-http", "common", "handler", "resolver", "transport",
            "transport-native-unix-common",
        )
    ),
    *(f"org.apache.logging.log4j:log4j-{name}:{_LOG4J}" for name in ("api", "core", "jul")),
    "com.fasterxml.jackson.core:jackson-core:2.18.2",
    "com.fasterxml.jackson.dataformat:jackson-dataformat-cbor:2.18.2",
    "com.fasterxml.jackson.dataformat:jackson-dataformat-smile:2.18.2",
    "com.fasterxml.jackson.dataformat:jackson-dataformat-yaml:2.18.2",
    "com.github.luben:zstd-jni:1.5.5-5",
    "com.google.protobuf:protobuf-java:3.25.5",
    "com.jcraft:jzlib:1.1.3",
    "com.tdunning:t-digest:3.2",
    "io.projectreactor:reactor-core:3.5.20",
    "jakarta.annotation:jakarta.annotation-api:1.3.5",
    "joda-time:joda-time:2.12.7",
    "net.java.dev.jna:jna:5.13.0",
    "net.sf.jopt-simple:jopt-simple:5.0.4",
    "org.hdrhistogram:HdrHistogram:2.2.2",
    "org.reactivestreams:reactive-streams:1.0.4",
    "org.roaringbitmap:RoaringBitmap:1.3.0",
    "org.yaml:snakeyaml:2.1",
)  # fmt: skip


class OpenSearch:
    """One node in a folder."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        (directory / "config").mkdir()
        self._ports = FreePorts("127.0.0.1")
        self.port = self._ports.pick()
        self._node: ChildProcess | None = None
        self._http = httpx.Client(base_url=self.url, timeout=HUNG_AFTER_S)

    @property
    def url(self) -> str:
        """Where it is, as connection.url has it."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, and wait until it listens."""
        jars = fetch("opensearch", _LIBRARIES, transitive=False)
        self._node = ChildProcess(
            [
                *(str(find_java().java), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
                *("-Xms64m", "-Xmx256m", "-cp", ":".join(map(str, jars))),
                *(str(_SOURCE), str(self._directory), str(self.port)),
            ],
            ready="OpenSearch listens",
        )
        assert self._node.wait_until_ready(HUNG_AFTER_S), self._node.last_lines

    def stop(self) -> None:
        """Stop it, and give the port back."""
        self._http.close()
        if self._node is not None:
            self._node.stop(within_s=HUNG_AFTER_S)
        self._ports.close()

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """Return what it answers, and insist that it takes the request."""
        answer = self._http.request(method, path, json=body)
        assert answer.is_success, answer.text
        return answer.json()

    def documents(self, index: str) -> dict[str, Any]:
        """Return the documents of an index by their ids."""
        self.ask("POST", f"/{index}/_refresh")
        found = self.ask("POST", f"/{index}/_search", {"size": 10_000, "version": True})
        return {hit["_id"]: hit["_source"] for hit in found["hits"]["hits"]}

    def count(self, index: str) -> int:
        """Return how many documents an index has; none if it is not there."""
        if self._http.head(f"/{index}").status_code == 404:
            return 0
        self.ask("POST", f"/{index}/_refresh")
        return int(self.ask("GET", f"/{index}/_count")["count"])

    def properties(self, index: str) -> dict[str, Any]:
        """Return how an index maps its fields."""
        answer = self.ask("GET", f"/{index}/_mapping")
        return dict(answer[index]["mappings"].get("properties", {}))
