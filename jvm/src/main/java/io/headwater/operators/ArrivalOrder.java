package io.headwater.operators;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.apache.spark.sql.catalyst.InternalRow;
import scala.collection.Iterator;

/**
 * Puts the rows of one key in the order in which Kafka Streams would have taken them.
 *
 * <p>Each source partition is a queue that is never reordered, whatever its timestamps say. Of
 * several queues, the one whose first row is oldest comes next; on equal times, the lower side,
 * which is a join's table.
 */
final class ArrivalOrder {
    private static final Comparator<InternalRow> WITHIN_QUEUES =
            Comparator.<InternalRow>comparingInt(Layout::side)
                    .thenComparingLong(Layout::source)
                    .thenComparingLong(Layout::offset);

    private ArrivalOrder() {}

    static List<InternalRow> of(Iterator<InternalRow> rows) {
        List<InternalRow> arrived = new ArrayList<>();
        while (rows.hasNext()) {
            arrived.add(rows.next());
        }
        if (arrived.size() < 2) {
            return arrived;
        }
        arrived.sort(WITHIN_QUEUES);
        List<Queue> queues = queues(arrived);
        return queues.size() == 1 ? arrived : merged(queues, arrived.size());
    }

    private static List<Queue> queues(List<InternalRow> sorted) {
        List<Queue> queues = new ArrayList<>();
        int start = 0;
        for (int end = 1; end <= sorted.size(); end++) {
            if (end == sorted.size() || !sameQueue(sorted.get(start), sorted.get(end))) {
                queues.add(new Queue(sorted.subList(start, end)));
                start = end;
            }
        }
        return queues;
    }

    private static boolean sameQueue(InternalRow one, InternalRow other) {
        return Layout.side(one) == Layout.side(other)
                && Layout.source(one) == Layout.source(other);
    }

    private static List<InternalRow> merged(List<Queue> queues, int size) {
        List<InternalRow> merged = new ArrayList<>(size);
        PriorityQueue<Queue> waiting = new PriorityQueue<>(queues);
        while (!waiting.isEmpty()) {
            Queue next = waiting.poll();
            merged.add(next.take());
            if (next.hasMore()) {
                waiting.add(next);
            }
        }
        return merged;
    }

    private static final class Queue implements Comparable<Queue> {
        private final List<InternalRow> rows;
        private int taken;

        Queue(List<InternalRow> rows) {
            this.rows = rows;
        }

        InternalRow take() {
            return rows.get(taken++);
        }

        boolean hasMore() {
            return taken < rows.size();
        }

        @Override
        public int compareTo(Queue other) {
            InternalRow mine = rows.get(taken);
            InternalRow theirs = other.rows.get(other.taken);
            int byTime = Long.compare(Layout.time(mine), Layout.time(theirs));
            if (byTime != 0) {
                return byTime;
            }
            int bySide = Integer.compare(Layout.side(mine), Layout.side(theirs));
            return bySide != 0
                    ? bySide
                    : Long.compare(Layout.source(mine), Layout.source(theirs));
        }
    }
}
