"""State in a compacted topic that every instance of a service reads and one of them writes.

Start with `Member`, whose docstring has an example. It puts the parts together: `TopicLog` follows
the topic, `Election` asks the group who should lead, `Leadership` reads from the topic who does,
and `Writer` writes while it is this instance.
"""
