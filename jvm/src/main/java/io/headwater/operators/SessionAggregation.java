package io.headwater.operators;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;

/**
 * Folds the rows of a key into sessions, which end after a gap without rows.
 *
 * <p>A row joins the sessions that it is near to, which become one. Those whose start or end has
 * changed come out once more, without a state, before the new one does: they are gone. A session is
 * closed when the gap and the grace after its end lie behind the latest time seen. A row that would
 * only make a closed session is late; it comes out marked, without a state, and changes nothing.
 */
final class SessionAggregation extends OpenWindowsOperator {
    private static final long serialVersionUID = 1L;

    private final Fold merge;
    private final long gap;
    private final long patience;

    SessionAggregation(
            StructType input, Fold fold, Fold merge, long gap, long grace, Emit emit) {
        super(input, fold, emit);
        if (gap <= 0 || grace < 0) {
            throw new IllegalArgumentException(
                    "sessions have a gap above 0 and a grace of at least 0; not gap "
                            + gap
                            + ", grace "
                            + grace
                            + " microseconds");
        }
        this.merge = merge;
        this.gap = gap;
        this.patience = Math.addExact(gap, grace);
    }

    @Override
    long take(List<InternalRow> rows, OpenWindows sessions, long before, List<InternalRow> results) {
        Set<OpenWindow.Bounds> shown = new HashSet<>(sessions.bounds());
        Map<OpenWindow.Bounds, Change> last = new LinkedHashMap<>();
        long seen = before;
        for (InternalRow row : rows) {
            InternalRow values = values(row);
            long at = timeOf(values);
            seen = Math.max(seen, at);
            close(sessions, before, seen, carried(row), results);
            List<OpenWindow> near = sessions.near(at, gap);
            if (near.isEmpty() && isClosed(at, seen)) {
                InternalRow order = Layout.order(row, results.size());
                results.add(row(carried(row), null, at, at, true, false, order));
                continue;
            }
            OpenWindow session = OpenWindow.of(at, at, (InternalRow) null);
            for (OpenWindow each : near) {
                session = session.with(each, merge);
                sessions.remove(each);
            }
            session = session.changed(fold.after(session.aggregate(), values));
            sessions.put(session);
            for (OpenWindow each : near) {
                if (!each.bounds().equals(session.bounds())) {
                    last.remove(each.bounds());
                    if (emit == Emit.EACH || shown.contains(each.bounds())) {
                        change(new Change(row, each.bounds(), null), last, results);
                    }
                }
            }
            change(new Change(row, session.bounds(), session.aggregate()), last, results);
        }
        if (emit == Emit.LAST) {
            last.values().forEach(each -> results.add(result(each, results.size())));
        }
        return seen;
    }

    @Override
    void close(
            OpenWindows sessions,
            long before,
            long seen,
            InternalRow carried,
            List<InternalRow> results) {
        OpenWindow oldest = sessions.oldest();
        while (oldest != null && isClosed(oldest.end(), seen)) {
            if (emit == Emit.FINAL) {
                results.add(closing(carried, oldest, results.size()));
            }
            sessions.remove(oldest);
            oldest = sessions.oldest();
        }
    }

    @Override
    long nextClose(OpenWindows sessions, long seen) {
        OpenWindow oldest = sessions.oldest();
        return oldest == null ? NEVER : Math.addExact(oldest.end(), patience) + 1;
    }

    private boolean isClosed(long end, long seen) {
        return Math.addExact(end, patience) < seen;
    }

    private void change(
            Change change, Map<OpenWindow.Bounds, Change> last, List<InternalRow> results) {
        switch (emit) {
            case EACH -> results.add(result(change, results.size()));
            case LAST -> {
                last.remove(change.bounds);
                last.put(change.bounds, change);
            }
            case FINAL -> {}
        }
    }

    private InternalRow result(Change change, int others) {
        return row(
                carried(change.row),
                change.aggregate,
                change.bounds.start(),
                change.bounds.end(),
                false,
                true,
                Layout.order(change.row, others));
    }

    /** What a row has made of a session; without an aggregate, the session is gone. */
    private record Change(InternalRow row, OpenWindow.Bounds bounds, InternalRow aggregate) {}
}
