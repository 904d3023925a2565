"""Fencing by the log: what a leader that was replaced still writes does not count."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headwater.topic_state.leadership import Leadership, Mark, Tenure, read_mark

CLAIM, KEY = b"claim", b"key"
A, B = "instance-a", "instance-b"


def claim(epoch: int, owner: str) -> Mark:
    return Mark(Tenure(epoch, owner), f"http://{owner}")


def data(epoch: int, owner: str) -> Mark:
    return Mark(Tenure(epoch, owner), None)


def test_the_first_claim_of_an_epoch_wins() -> None:
    leadership = Leadership(CLAIM)
    assert leadership.admit(CLAIM, claim(1, A))
    assert not leadership.admit(CLAIM, claim(1, B))
    assert leadership.tenure == (1, A)
    assert leadership.url == "http://instance-a"


def test_what_a_former_leader_writes_is_void() -> None:
    leadership = Leadership(CLAIM)
    assert leadership.admit(CLAIM, claim(1, A))
    assert leadership.admit(KEY, data(1, A))
    assert leadership.admit(CLAIM, claim(2, B))
    assert not leadership.admit(KEY, data(1, A))
    assert not leadership.admit(CLAIM, claim(1, A))
    assert leadership.admit(KEY, data(2, B))


def test_a_leader_may_say_again_that_it_leads() -> None:
    leadership = Leadership(CLAIM)
    assert leadership.admit(CLAIM, claim(3, A))
    assert leadership.admit(CLAIM, claim(3, A))
    assert leadership.admit(KEY, data(3, A))


def test_records_of_other_programs_always_count() -> None:
    leadership = Leadership(CLAIM, Tenure(5, A))
    assert leadership.admit(KEY, None)
    assert leadership.admit(CLAIM, None)
    assert leadership.tenure == (5, A)


def test_a_claim_that_was_compacted_away_is_believed() -> None:
    leadership = Leadership(CLAIM)
    assert leadership.admit(KEY, data(3, A))
    assert leadership.tenure == (3, A)
    assert leadership.url is None
    assert not leadership.admit(KEY, data(2, B))


def test_marks_survive_the_way_through_headers() -> None:
    tenure = Tenure(7, A)
    assert read_mark(tenure.headers()) == Mark(tenure)
    assert read_mark(tenure.claim_headers("http://x:1")) == Mark(tenure, "http://x:1")
    assert read_mark(None) is None
    assert read_mark([("other", b"x")]) is None
    assert read_mark([("headwater.leader", b"x/y")]) is None
    assert read_mark([("headwater.leader", None)]) is None


@given(st.data())
def test_at_most_one_instance_leads_an_epoch(draw: st.DataObject) -> None:
    """Instances claim and write whenever they like; each only writes after its claim won."""
    log: list[tuple[bytes, Mark]] = []
    readers = {name: (Leadership(CLAIM), 0) for name in "abc"}
    mine: dict[str, Tenure | None] = dict.fromkeys("abc")

    def catch_up(name: str) -> Leadership:
        leadership, position = readers[name]
        for key, mark in log[position:]:
            leadership.admit(key, mark)
        readers[name] = (leadership, len(log))
        return leadership

    for _ in range(draw.draw(st.integers(0, 30))):
        name = draw.draw(st.sampled_from("abc"))
        tenure = mine[name]
        if draw.draw(st.booleans()):
            # Its view may be old by the time its claim is in the log.
            epoch = readers[name][0].tenure.epoch + 1
            log.append((CLAIM, claim(epoch, name)))
            seen = catch_up(name)
            mine[name] = Tenure(epoch, name) if seen.tenure == (epoch, name) else None
        elif tenure is not None:
            log.append((KEY, data(tenure.epoch, tenure.owner)))
        if draw.draw(st.booleans()):
            catch_up(name)

    judge = Leadership(CLAIM)
    verdicts = [judge.admit(key, mark) for key, mark in log]
    owners: dict[int, set[str]] = {}
    for (key, mark), counts in zip(log, verdicts, strict=True):
        if counts:
            owners.setdefault(mark.tenure.epoch, set()).add(mark.tenure.owner)
            assert key is not None
    assert all(len(each) == 1 for each in owners.values())
    epochs = [mark.tenure.epoch for (_, mark), counts in zip(log, verdicts, strict=True) if counts]
    assert epochs == sorted(epochs)
    for name in "abc":
        assert catch_up(name).tenure == judge.tenure
