"""Regular expressions in RE2's syntax over topic names, matched in time linear in the name.

Kafka matches subscriptions with RE2, which never backtracks. Python's `re` does: an expression
such as `(a+)+x` takes it hours over a name of forty letters, and a client could stop the broker
with it. Names have only 65 different characters, so that an automaton of our own stays small.
"""

from headwater.broker.groups.regex.automaton import Automaton
from headwater.broker.groups.regex.parser import ALPHABET, RegexError, parse

__all__ = ["ALPHABET", "Automaton", "RegexError", "parse"]
