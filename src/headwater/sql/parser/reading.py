"""One text through Lark's parser; keywords that are not reserved are names where they can be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lark.exceptions import UnexpectedCharacters, UnexpectedToken
from lark.parsers.lalr_analysis import Shift

from headwater.sql.errors import SqlError
from headwater.sql.parser.lark_parser import lark_parser
from headwater.sql.parser.syntax_errors import unexpected_character, unexpected_token
from headwater.sql.words import NOT_RESERVED

if TYPE_CHECKING:
    from lark import Token


def read(text: str, start: str) -> Any:
    """Return the tree of a text that is one `start` of the grammar; raise SqlSyntaxError."""
    # Lark leaves the methods of its interactive parser without types.
    interactive: Any = lark_parser().parse_interactive(text, start)
    state = interactive.parser_state
    last: Token | None = None
    try:
        for last in interactive.lexer_thread.lex(state):
            if last.type in NOT_RESERVED and not _can_follow(state, last.type):
                last.type = "NAME"
            state.feed_token(last)
        return interactive.feed_eof(last)
    except UnexpectedCharacters as error:
        raise unexpected_character(error, text) from None
    except UnexpectedToken as error:
        raise unexpected_token(error.token, interactive.accepts(), text) from None
    except SqlError as error:
        raise error.within(text) from None


def _can_follow(state: Any, terminal: str) -> bool:
    """Tell whether a terminal can stand next, by the reductions that the parser would make."""
    states = state.parse_conf.states
    stack = list(state.state_stack)
    while terminal in states[stack[-1]]:
        action, rule = states[stack[-1]][terminal]
        if action is Shift:
            return True
        if rule.expansion:
            del stack[-len(rule.expansion) :]
        stack.append(states[stack[-1]][rule.origin.name][1])
    return False
