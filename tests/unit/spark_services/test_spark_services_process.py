"""Services of one process, alone and beside others, without a job: each on its port, no Spark."""

from __future__ import annotations

import json
import os
import re
import signal
import ssl
import subprocess
import sys
import threading
import urllib.request
from typing import TYPE_CHECKING

import httpx
import pytest
from tests.certificates import certificate_for_loopback
from tests.integration.copy_service import COPIER, MIRROR
from tests.waiting import wait_for

from headwater.clients import ClusterAccess
from headwater.config.given import Given
from headwater.config.sources import from_options
from headwater.http.errors import StartError
from headwater.http.listening import listen
from headwater.spark_services.process import HostedService, run
from headwater.spark_services.spark_service import load_service

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from headwater.spark_services.spark_service import SparkService

HOST = "127.0.0.1"


def serve(*services: HostedService) -> int:
    return run(services, ClusterAccess(), {})


def hosted(service: SparkService, given: Mapping[str, str] | None = None) -> HostedService:
    return HostedService(service, HOST, 0, from_options(given or {}, "--property"))


def url_of(service: SparkService, log: pytest.LogCaptureFixture) -> str:
    ready = wait_for(lambda: re.search(rf"{service.name} listening on (\S+)", log.text))
    assert ready is not None
    return ready[1]


@pytest.mark.parametrize("services", [[COPIER], [COPIER, MIRROR]])
def test_each_listens_until_a_signal(
    services: Sequence[SparkService], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    answers: list[object] = []

    def ask_and_stop() -> None:
        for service in services:
            with urllib.request.urlopen(f"{url_of(service, caplog)}/copies") as answer:
                answers.append(json.load(answer))
        os.kill(os.getpid(), signal.SIGTERM)

    asking = threading.Thread(target=ask_and_stop)
    asking.start()
    assert serve(*(hosted(service) for service in services)) == 0
    asking.join()
    assert answers == [[] for _ in services]
    assert caplog.text.count("(0 jobs, ready in") == len(services)


def test_one_listens_with_tls_and_lets_in_whom_it_knows(
    caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    caplog.set_level("INFO")
    files = certificate_for_loopback(tmp_path)
    users = tmp_path / "users"
    users.write_text("ann: secret\n")
    secured = {
        "ssl.certificate.location": str(files.certificate),
        "ssl.key.location": str(files.key),
        "authentication.users.file": str(users),
    }
    answers: list[int] = []

    def ask_and_stop() -> None:
        url = url_of(COPIER, caplog)
        trusted = ssl.create_default_context(cafile=files.certificate)
        with httpx.Client(base_url=url, verify=trusted) as client:
            answers.extend(
                client.get("/copies", auth=auth).status_code for auth in (None, ("ann", "secret"))
            )
        plain = url_of(MIRROR, caplog)
        answers.append(httpx.get(f"{plain}/copies").status_code)
        os.kill(os.getpid(), signal.SIGTERM)

    asking = threading.Thread(target=ask_and_stop)
    asking.start()
    assert serve(hosted(COPIER, secured), hosted(MIRROR)) == 0
    asking.join()
    assert answers == [401, 200, 200]


def test_one_that_cannot_start_is_named_and_none_starts(caplog: pytest.LogCaptureFixture) -> None:
    assert serve(hosted(COPIER), hosted(MIRROR, {"suffix": "mirrored"})) == 1
    assert (
        "can't start: mirror: --property: Invalid value mirrored for configuration suffix: it has "
        "to start with -" in caplog.text
    )
    caplog.clear()
    assert serve(hosted(COPIER, {"sufix": "-x"}), hosted(MIRROR)) == 1
    assert (
        "can't start: copier: --property: Unknown setting sufix: there is no copier setting of "
        "that name; did you mean suffix?" in caplog.text
    )
    caplog.clear()
    missing = {"ssl.certificate.location": "gone.pem", "ssl.key.location": "gone.key"}
    assert serve(hosted(COPIER), hosted(MIRROR, missing)) == 1
    assert "can't start: mirror: gone.pem: No such file or directory" in caplog.text
    caplog.clear()
    with listen(HOST, 0) as taken:
        taken.listen()
        port = taken.getsockname()[1]
        assert serve(hosted(COPIER), HostedService(MIRROR, HOST, port, Given())) == 1
    assert f"can't start: mirror: port {port} is in use" in caplog.text


def test_a_service_is_found_by_its_module() -> None:
    assert load_service("tests.integration.copy_service:COPIER") is COPIER
    for target in ("tests.integration.copy_service:NONE", "no.such:SERVICE", "headwater"):
        with pytest.raises(StartError, match=f"there is no service at '{target}'"):
            load_service(target)
    with pytest.raises(StartError, match="is a type, and no service that needs Spark"):
        load_service("tests.integration.copy_service:CopyService")


def test_spark_is_not_loaded_before_there_is_a_job() -> None:
    program = (
        "import sys, tests.integration.copy_service, headwater.spark_services.process; "
        "print([each for each in ('pyspark', 'py4j', 'pyarrow', 'pandas') if each in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
