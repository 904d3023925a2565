package io.headwater.operators;

import java.util.function.Supplier;
import org.apache.spark.sql.catalyst.InternalRow;

/** A window of a key: its first and its last moment, and what its rows were folded into. */
final class OpenWindow {
    private final Bounds bounds;
    private final boolean changed;
    private Supplier<InternalRow> stored;
    private InternalRow aggregate;

    private OpenWindow(
            Bounds bounds, Supplier<InternalRow> stored, InternalRow aggregate, boolean changed) {
        this.bounds = bounds;
        this.stored = stored;
        this.aggregate = aggregate;
        this.changed = changed;
    }

    /** A window whose aggregate is in the state. */
    static OpenWindow of(long start, long end, Supplier<InternalRow> stored) {
        return new OpenWindow(new Bounds(start, end), stored, null, false);
    }

    /** A window that is not in the state yet, or not as it is. */
    static OpenWindow of(long start, long end, InternalRow aggregate) {
        return new OpenWindow(new Bounds(start, end), null, aggregate, true);
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
    OpenWindow with(OpenWindow other, Fold merge) {
        InternalRow mine = aggregate();
        return of(
                Math.min(start(), other.start()),
                Math.max(end(), other.end()),
                mine == null ? other.aggregate() : merge.after(mine, other.aggregate()));
    }

    OpenWindow changed(InternalRow next) {
        return new OpenWindow(bounds, null, next, true);
    }

    /** What tells windows apart. */
    record Bounds(long start, long end) {}
}
