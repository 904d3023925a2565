"""A real S3 server for tests: S3Proxy, by its Maven coordinates, on a free port of loopback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.waiting import HUNG_AFTER_S

from headwater.java.artifacts import fetch
from headwater.java.runtime import find_java
from headwater.processes.child import ChildProcess
from headwater.processes.ports import FreePorts

if TYPE_CHECKING:
    from pathlib import Path

KEY, SECRET, REGION = "headwater", "watershed", "us-east-1"

_AWS = "2.54.2"
_LIBRARIES = (
    "org.gaul:s3proxy:4.1.0",
    "args4j:args4j:2.37",
    "com.google.guava:guava:33.7.1-jre",
    "com.google.guava:failureaccess:1.0.3",
    "com.fasterxml.jackson.core:jackson-annotations:2.21",
    "tools.jackson.core:jackson-core:3.2.2",
    "tools.jackson.core:jackson-databind:3.2.2",
    "tools.jackson.dataformat:jackson-dataformat-xml:3.2.2",
    "org.codehaus.woodstox:stax2-api:4.2.2",
    "com.fasterxml.woodstox:woodstox-core:7.0.0",
    "jakarta.servlet:jakarta.servlet-api:6.0.0",
    "org.slf4j:slf4j-api:2.0.18",
    "ch.qos.logback:logback-classic:1.6.3",
    "ch.qos.logback:logback-core:1.6.3",
    # The words for requests and answers, in which it speaks to whatever stores the objects.
    *(
        f"software.amazon.awssdk:{name}:{_AWS}"
        for name in (
            "annotations", "auth", "aws-core", "checksums", "checksums-spi", "endpoints-spi",
            "http-client-spi", "identity-spi", "metrics-spi", "regions", "retries-spi", "s3",
            "sdk-core", "utils", "utils-lite",
        )
    ),
)  # fmt: skip

# What it says when it listens, and what it complains of.
_LOG = """<configuration>
  <appender name="out" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%level %logger{0} %msg%n</pattern></encoder>
  </appender>
  <logger name="org.gaul.shaded.org.eclipse.jetty.server" level="info"/>
  <root level="warn"><appender-ref ref="out"/></root>
</configuration>
"""


class S3Server:
    """Buckets in a folder, for one user."""

    def __init__(self, directory: Path) -> None:
        self._ports = FreePorts("127.0.0.1")
        self.port = self._ports.pick()
        self._file = directory / "s3proxy.properties"
        self._log = directory / "logback.xml"
        self._log.write_text(_LOG)
        data = directory / "buckets"
        data.mkdir()
        self._server: ChildProcess | None = None
        self._file.write_text(
            f"s3proxy.endpoint={self.url}\ns3proxy.authorization=aws-v2-or-v4\n"
            f"s3proxy.identity={KEY}\ns3proxy.credential={SECRET}\n"
            f"jclouds.provider=filesystem-nio2\njclouds.filesystem.basedir={data}\n"
        )

    @property
    def url(self) -> str:
        """Where it is, as store.url has it."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def properties(self) -> dict[str, str]:
        """What a connector is told of it."""
        return {
            "store.url": self.url,
            "s3.region": REGION,
            "aws.access.key.id": KEY,
            "aws.secret.access.key": SECRET,
        }

    def start(self) -> None:
        """Start it, and wait until it listens."""
        jars = fetch("s3-server", _LIBRARIES, transitive=False)
        self._server = ChildProcess(
            [
                *(str(find_java().java), "-XX:TieredStopAtLevel=1", "-Xmx256m"),
                f"-Dlogback.configurationFile={self._log}",
                *("-cp", ":".join(map(str, jars)), "org.gaul.s3proxy.Main"),
                *("--properties", str(self._file)),
            ],
            ready=r"Started .*ServerConnector",
        )
        assert self._server.wait_until_ready(HUNG_AFTER_S), self._server.last_lines

    def stop(self) -> None:
        """Stop it, and give the port back."""
        if self._server is not None:
            self._server.stop(within_s=HUNG_AFTER_S)
        self._ports.close()

    def files(self) -> Any:
        """Return its buckets as Arrow's file system."""
        from pyarrow.fs import S3FileSystem

        return S3FileSystem(
            access_key=KEY,
            secret_key=SECRET,
            region=REGION,
            scheme="http",
            endpoint_override=f"127.0.0.1:{self.port}",
            allow_bucket_creation=True,
        )

    def make_bucket(self, name: str) -> None:
        """Make a bucket."""
        self.files().create_dir(name)

    def objects(self, bucket: str) -> dict[str, bytes]:
        """Return what is in a bucket, by name."""
        from pyarrow.fs import FileSelector

        files = self.files()
        found = files.get_file_info(FileSelector(bucket, recursive=True))
        return {
            each.path.removeprefix(f"{bucket}/"): files.open_input_stream(each.path).read()
            for each in found
            if each.is_file
        }
