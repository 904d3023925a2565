"""The broker: what it holds, and how it starts and stops."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from time import time_ns
from typing import TYPE_CHECKING

from headwater.broker.acls.standard_authorizer import authorizer_of
from headwater.broker.apis import HANDLERS
from headwater.broker.audit.opening import audit_log_of
from headwater.broker.authorizer import ALLOW_ALL
from headwater.broker.commit.group_commit import GroupCommit
from headwater.broker.commit.journal_commit import JournalCommit
from headwater.broker.delegation_tokens.delegation_tokens import DelegationTokens
from headwater.broker.fetch.session import FetchSessionCache
from headwater.broker.groups.coordinator import GroupCoordinator
from headwater.broker.maintenance import Maintenance
from headwater.broker.metadata.directory_lock import DirectoryLock
from headwater.broker.metrics.request_times import RequestTimes
from headwater.broker.network.answer_budget import AnswerBudget
from headwater.broker.network.connection_limits import ConnectionLimits
from headwater.broker.network.listener import Listener, bind
from headwater.broker.network.listener_security import ListenerSecurity
from headwater.broker.quotas.client_quotas import ClientQuotas
from headwater.broker.requests.dispatch import Dispatcher
from headwater.broker.topics.topics import TopicRegistry
from headwater.broker.transactions.coordinator import TransactionCoordinator
from headwater.log.manager import LogManager

if TYPE_CHECKING:
    from headwater.broker.authorizer import Authorizer
    from headwater.broker.config import BrokerConfig
    from headwater.broker.metrics.endpoint import MetricsEndpoint

logger = logging.getLogger("headwater.broker")

_FLUSH_THREADS = 8
_LOOPBACK = "127.0.0.1"
_LEAST_BACKLOG = 1024


class Broker:
    """One broker: its topics, its logs and the listeners that serve them."""

    loop: asyncio.AbstractEventLoop
    commits: GroupCommit
    cluster_id: str

    def __init__(self, config: BrokerConfig) -> None:
        self.config = config
        self.node_id = config.node_id
        self.fsync = config.flush == "fsync"
        self.logs = LogManager(
            config.data_dir,
            config.log_defaults(),
            config.integer("headwater.journal.bytes") if self.fsync else 0,
        )
        self.topics = TopicRegistry(self.logs, config)
        self.delegation_tokens = DelegationTokens(config, self.topics.delegation_tokens)
        self.fetch_sessions = FetchSessionCache(
            config.integer("max.incremental.fetch.session.cache.slots")
        )
        self.quotas = ClientQuotas(config)
        self.request_times = RequestTimes()
        self.answer_budget = AnswerBudget()
        self.acls = authorizer_of(config)
        """The authorizer whose ACLs clients create and delete; None without one."""
        self.authorizer: Authorizer = self.acls or ALLOW_ALL
        self.audit = audit_log_of(self)
        """What takes note of all that clients do; None where nobody asked for that."""
        self.groups = GroupCoordinator(self)
        self.transactions = TransactionCoordinator(self)
        self.listeners: list[Listener] = []
        self.metrics_address: tuple[str, int] | None = None
        self._metrics: MetricsEndpoint | None = None
        self._flushers = ThreadPoolExecutor(_FLUSH_THREADS, thread_name_prefix="headwater-flush")
        self._maintenance = Maintenance(self)
        self._lock: DirectoryLock | None = None

    async def start(self) -> None:
        """Recover the logs and begin to serve."""
        self.loop = asyncio.get_running_loop()
        self.commits = GroupCommit(self.loop, self._flushers)
        self.config.data_dir.mkdir(parents=True, exist_ok=True)
        self._lock = DirectoryLock(self.config.data_dir)
        try:
            self.cluster_id = self.topics.load(time_ns() // 1_000_000)
            if self.logs.journal is not None:
                self.commits = JournalCommit(self.loop, self._flushers, self.logs.journal)
            self.quotas.update(self.topics.quotas)
            if self.acls is not None:
                self.acls.change(self.topics.acls)
            self.groups.start()
            self.transactions.start()
            if self.audit is not None:
                self.audit.start()
            self._listen()
            await self._serve_metrics()
        except BaseException:
            await self._release()
            raise
        self._maintenance.start()

    async def stop(self) -> None:
        """Answer what is under way, bring everything to disk and leave a clean directory."""
        for listener in self.listeners:
            listener.stop_accepting()
        await self.transactions.stop()
        await self.groups.stop()
        await self.commits.drain()
        for listener in self.listeners:
            listener.close()
        await self._maintenance.stop()
        if self.audit is not None:
            await self.audit.stop()
        await self.commits.drain()
        await self.topics.changes.drain()
        await self.topics.close()
        try:
            await self.loop.run_in_executor(None, self.logs.close)
        finally:
            # A full disk, too, lets the process end: it waits for its threads.
            await self._release()

    def advertised(self, listener: str) -> tuple[str, int]:
        """Return the host and port that clients of a listener are told to connect to."""
        return self._advertised[listener]

    def _listen(self) -> None:
        dispatch = Dispatcher(self, HANDLERS)
        limits = ConnectionLimits(self.config, self.quotas)
        self._advertised: dict[str, tuple[str, int]] = {}
        # Kafka's default of 50 makes a burst of clients wait a second for each 50 of them.
        backlog = max(_LEAST_BACKLOG, self.config.integer("socket.listen.backlog.size"))
        for endpoint in self.config.listeners:
            listener = Listener(
                endpoint.name,
                ListenerSecurity(
                    endpoint,
                    self.config,
                    self.loop,
                    dispatch,
                    self.topics.scram_credentials,
                    self.delegation_tokens,
                    self.audit,
                ),
                bind(endpoint.host, endpoint.port, backlog),
                self.loop,
                limits=limits,
                budget=self.answer_budget,
                authorizer=self.authorizer,
                send_buffer=self.config.integer("socket.send.buffer.bytes"),
                receive_buffer=self.config.integer("socket.receive.buffer.bytes"),
            )
            self.listeners.append(listener)
            self._advertised[endpoint.name] = self.config.advertised(
                endpoint.name, listener.address
            )
        for listener in self.listeners:
            listener.start()

    async def _serve_metrics(self) -> None:
        port = self.config.integer("headwater.metrics.port")
        if port < 0:
            return
        from headwater.broker.metrics.endpoint import MetricsEndpoint

        self._metrics = MetricsEndpoint(self)
        self.metrics_address = await self._metrics.start(self._metrics_host(), port)

    def _metrics_host(self) -> str:
        given = self.config.text("headwater.metrics.host")
        if given is not None:
            return given
        first = self.config.listeners[0]
        # Nobody is asked there: where clients have to show something, it stays on this machine.
        return first.host if first.protocol == "PLAINTEXT" else _LOOPBACK

    async def _release(self) -> None:
        if self._metrics is not None:
            await self._metrics.stop()
            self._metrics = self.metrics_address = None
        if self.audit is not None:
            await self.audit.stop()
        self.commits.close()
        self._flushers.shutdown(wait=True)
        for listener in self.listeners:
            listener.close()
        self.listeners.clear()
        if self._lock is not None:
            self._lock.release()
            self._lock = None
