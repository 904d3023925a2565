"""A service that answers HTTP and otherwise behaves as it is told; for tests of the supervisor."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--name", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--journal", type=Path, required=True)
    parser.add_argument("--fail-at-start", type=int)
    parser.add_argument("--fail-while", type=Path)
    parser.add_argument("--unhealthy-while", type=Path)
    parser.add_argument("--ignore-sigterm", action="store_true")
    parser.add_argument("--stop-code", type=int, default=0)
    parser.add_argument("--grandchild", action="store_true")
    told = parser.parse_args()

    def note(event: str) -> None:
        with told.journal.open("a") as journal:
            journal.write(f"{told.name} {event} {os.getpid()}\n")

    note("started")
    print(f"{told.name} says hello", flush=True)
    if told.fail_at_start is not None:
        print("this cannot work", file=sys.stderr, flush=True)
        sys.exit(told.fail_at_start)
    if told.fail_while is not None and told.fail_while.exists():
        sys.exit(4)
    if told.grandchild:
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        with told.journal.open("a") as journal:
            journal.write(f"{told.name} grandchild {child.pid}\n")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            broken = told.unhealthy_while is not None and told.unhealthy_while.exists()
            self.send_response(503 if broken else 200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", told.port), Handler)

    def stop(*_: object) -> None:
        note("asked")
        if not told.ignore_sigterm:
            threading.Thread(target=server.shutdown).start()

    signal.signal(signal.SIGTERM, stop)
    server.serve_forever(0.02)
    note("stopped")
    sys.exit(told.stop_code)


if __name__ == "__main__":
    main()
