"""Server-side assignors of the new protocol: one module each, found by name."""

from headwater.broker.groups.assignors import range as range_assignor
from headwater.broker.groups.assignors import uniform
from headwater.broker.groups.assignors.spec import Assignor, GroupSpec, MemberSpec

ASSIGNORS: dict[str, Assignor] = {
    uniform.NAME: uniform.assign,
    range_assignor.NAME: range_assignor.assign,
}
"""The first is the default, as in Kafka."""

DEFAULT_ASSIGNOR = uniform.NAME

__all__ = ["ASSIGNORS", "DEFAULT_ASSIGNOR", "Assignor", "GroupSpec", "MemberSpec"]
