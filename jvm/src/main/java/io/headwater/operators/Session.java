package io.headwater.operators;

import java.util.function.Supplier;
import org.apache.spark.sql.catalyst.InternalRow;

/** A session of a key: the times of its first and its last row, and what they were folded into. */
final class Session {
    private final Bounds bounds;
    private final boolean changed;
    private Supplier<InternalRow> stored;
    private InternalRow aggregate;

    Session(long start, long end, Supplier<InternalRow> stored) {
        this(new Bounds(start, end), stored, null, false);
    }

    private Session(
            Bounds bounds, Supplier<InternalRow> stored, InternalRow aggregate, boolean changed) {
        this.bounds = bounds;
        this.stored = stored;
        this.aggregate = aggregate;
        this.changed = changed;
    }

    long start() {
        return bounds.start;
    }

    long end() {
        return bounds.end;
    }

    Bounds bounds() {
        return bounds;
    }

    boolean isChanged() {
        return changed;
    }

    /** What its rows were folded into, read from the state when it is first asked for. */
    InternalRow aggregate() {
        if (aggregate == null && stored != null) {
            aggregate = stored.get();
            stored = null;
        }
        return aggregate;
    }

    /** Both as one; of the two, the other's rows are taken as the later ones. */
    Session with(Session other, Fold merge) {
        Bounds both =
                new Bounds(Math.min(start(), other.start()), Math.max(end(), other.end()));
        InternalRow mine = aggregate();
        InternalRow merged =
                mine == null ? other.aggregate() : merge.after(mine, other.aggregate());
        return new Session(both, null, merged, true);
    }

    Session changed(InternalRow next) {
        return new Session(bounds, null, next, true);
    }

    /** What tells sessions apart: the times of the first and the last row. */
    record Bounds(long start, long end) {}
}
