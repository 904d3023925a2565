"""Programs of the peers: each processes so many records, prints the seconds, and ends.

They run in an environment of their own, since their requirements are not ours.
"""
