"""Put a compacted segment in the place of those it came from, so that no crash loses anything.

Kafka's protocol: what compaction writes ends in `.cleaned` and is worth nothing. Renaming all its
files to `.swap` is the commit. From then on the old segments go and the new one takes its place,
and a start after a crash completes whatever of that is missing.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.log.disk import names_in, sync_directory
from headwater.log.errors import CorruptBatch, LogError
from headwater.log.file_names import (
    CLEANED,
    DELETED,
    LOG,
    SEGMENT_KINDS,
    SWAP,
    TEMPORARY,
    parse_segment_file,
    segment_stem,
)
from headwater.log.indexes.index_file import CorruptIndex
from headwater.log.segments.segment import Segment

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_UNFINISHED = (DELETED, CLEANED, SWAP, TEMPORARY)


def commit_cleaned(cleaned: Path, old: Sequence[Segment]) -> Segment:
    """Make the files `cleaned`.*.cleaned the successor of `old`; after this there is no way back.

    Returns the new segment, whose files now end in `.swap`. Its indexes are open and have to stay
    so until the files have their final names, since a reader would open them by name.
    """
    base_offset = old[0].base_offset
    if cleaned.name != f"{base_offset:020d}":
        raise LogError(f"{cleaned} cannot replace the segment {base_offset}.")
    directory = str(cleaned.parent)
    segment = Segment.open(directory, base_offset, created_ms=old[0].created_ms, suffix=CLEANED)
    try:
        segment.load_indexes()
    except CorruptIndex as error:
        raise LogError(f"{segment.path(LOG)} has a bad index: {error}.") from error
    _reach_last_old_segment(segment, old[-1])
    newest = max(former.file.modified_ns for former in old)
    os.utime(segment.path(LOG), ns=(newest, newest))
    for file in segment.files():
        file.sync()
    segment.rename(SWAP)
    sync_directory(directory)
    segment.is_cleaned = True
    return segment


def is_interrupted(names: Iterable[str]) -> bool:
    """Whether a directory with these files has something for `finish_interrupted` to do."""
    return any(name.endswith(_UNFINISHED) for name in names)


def finish_interrupted(directory: str) -> list[str]:
    """Complete or undo what a crash interrupted; returns a line about each thing done.

    `.deleted` files go, `.cleaned` ones too, and a committed `.swap` takes its place.
    """
    done: list[str] = []
    names = names_in(directory)
    found = [(name, parsed) for name in names if (parsed := parse_segment_file(name))]
    uncommitted = {base for _, (base, _, suffix) in found if suffix == CLEANED}
    for name, (base, _, suffix) in found:
        # A swap of which some files are still `.cleaned` was not committed.
        if suffix in (DELETED, CLEANED, TEMPORARY) or (suffix == SWAP and base in uncommitted):
            (Path(directory) / name).unlink()
            if suffix not in (DELETED, TEMPORARY):
                done.append(f"removed {name}, which an interrupted compaction left behind")
    committed = sorted(
        base for _, (base, kind, suffix) in found
        if suffix == SWAP and kind == LOG and base not in uncommitted
    )  # fmt: skip
    for base in committed:
        done.extend(_complete(directory, base, [parsed for _, parsed in found]))
    # Indexes of a swap whose log file has its final name already.
    for name, (base, _, suffix) in found:
        path = Path(directory) / name
        if suffix == SWAP and base not in uncommitted and path.exists():
            path.rename(path.with_suffix(""))
    if done:
        sync_directory(directory)
    return done


def _complete(directory: str, base: int, found: list[tuple[int, str, str]]) -> list[str]:
    swap = Segment.open(directory, base, created_ms=0, suffix=SWAP)
    old = {other for other, kind, suffix in found if kind == LOG and not suffix}
    end = base
    try:
        for _, header in swap.batches():
            end = header.next_offset
    except CorruptBatch as error:
        if base in old:
            swap.remove_files()
            return [f"removed a damaged compacted segment and kept the old ones: {error}"]
    replaced = {other for other in old if base < other < end}
    for other in (base, *sorted(replaced)):
        for kind in SEGMENT_KINDS:
            Path(segment_stem(directory, other) + kind).unlink(missing_ok=True)
    swap.rename("")
    return [f"completed the compaction of segment {base}, which a crash had interrupted"]


def _reach_last_old_segment(segment: Segment, last_old: Segment) -> None:
    """Let the new segment end after the start of the last old one.

    That is how a start after a crash knows which segments were replaced. Where compaction has
    removed everything at the end, an empty batch takes the place, as Kafka's own cleaner uses it.
    """
    from headwater.log.records.record import encode_batch

    last = segment.last_batch()
    end = segment.base_offset if last is None else last.next_offset
    if last_old.base_offset == segment.base_offset or last_old.base_offset < end:
        return
    empty = encode_batch([], base_offset=end, last_offset=last_old.base_offset)
    segment.file.write(empty, segment.size)
    segment.size += len(empty)
