"""The settings that both brokers get: all defaults, but nothing waits longer than it must."""

from __future__ import annotations

from tests.integration.raw_groups import QUICK

SETTINGS: dict[str, str] = {
    **QUICK,
    # Long enough for a member of a test that waits for a busy machine.
    "group.consumer.session.timeout.ms": "4000",
    # A single node has no second replica for these.
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "3",
    # What `headwater.cluster` sets for any cluster of one.
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    # Programs without ACLs do not notice it: what no ACL is about, everybody may do.
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
    # Records in these programs have timestamps of long ago; topics that expire say so themselves.
    "log.retention.ms": "-1",
    # Retention, compaction and expiry come round several times a second.
    "log.initial.task.delay.ms": "100",
    "log.retention.check.interval.ms": "200",
    "log.cleaner.backoff.ms": "100",
    "log.segment.delete.delay.ms": "1000",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "200",
}
