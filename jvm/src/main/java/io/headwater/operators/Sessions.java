package io.headwater.operators;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeArrayData;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.streaming.MapState;

/**
 * The open sessions of one key during one call, further apart than the gap, so that their starts are
 * in the order of their ends.
 *
 * <p>Starts and ends are read and written together; an aggregate is read when a row is near to its
 * session, and written if it has changed.
 */
final class Sessions {
    private final TreeMap<Long, Session> byStart = new TreeMap<>();
    private final Set<Long> stored = new HashSet<>();
    private final MapState<Long, InternalRow> aggregates;

    Sessions(long[] bounds, MapState<Long, InternalRow> aggregates) {
        this.aggregates = aggregates;
        for (int index = 0; index < bounds.length; index += 2) {
            long start = bounds[index];
            stored.add(start);
            byStart.put(
                    start,
                    new Session(start, bounds[index + 1], () -> aggregates.getValue(start)));
        }
    }

    List<Session.Bounds> bounds() {
        return byStart.values().stream().map(Session::bounds).toList();
    }

    /** Starts and ends in one array, for the state. */
    ArrayData savedBounds() {
        long[] bounds = new long[byStart.size() * 2];
        int index = 0;
        for (Session session : byStart.values()) {
            bounds[index++] = session.start();
            bounds[index++] = session.end();
        }
        return UnsafeArrayData.fromPrimitiveArray(bounds);
    }

    Session oldest() {
        Map.Entry<Long, Session> first = byStart.firstEntry();
        return first == null ? null : first.getValue();
    }

    /** The sessions that a row of this time belongs to, oldest first. */
    List<Session> near(long time, long gap) {
        List<Session> near = new ArrayList<>();
        for (Session session : byStart.headMap(time + gap, true).descendingMap().values()) {
            if (session.end() < time - gap) {
                break;
            }
            near.add(0, session);
        }
        return near;
    }

    /** Put a session, or none, where there were others. */
    void replace(List<Session> gone, Session session) {
        gone.forEach(each -> byStart.remove(each.start()));
        if (session != null) {
            byStart.put(session.start(), session);
        }
    }

    void save() {
        for (long start : stored) {
            if (!byStart.containsKey(start)) {
                aggregates.removeKey(start);
            }
        }
        for (Session session : byStart.values()) {
            if (session.isChanged()) {
                aggregates.updateValue(session.start(), session.aggregate());
            }
        }
    }
}
