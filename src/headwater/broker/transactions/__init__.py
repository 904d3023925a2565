"""Transactions and producer ids: what makes a record count exactly once.

`transitions` is the whole state machine as plain functions. `TransactionCoordinator` puts it on
the event loop and the disk: every step is a record of `__transaction_state` before anyone hears
of it.
"""
