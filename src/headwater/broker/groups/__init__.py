"""Consumer groups: who reads which partition, and how far each group has come.

`GroupShard` is the whole of it as a plain state machine, without sockets or an event loop; one
shard looks after the groups of one partition of `__consumer_offsets`. `GroupCoordinator` puts the
shards on the event loop, the disk and the clock.
"""
