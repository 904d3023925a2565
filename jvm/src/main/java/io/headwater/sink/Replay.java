package io.headwater.sink;

import java.io.Serializable;
import java.util.Map;

/**
 * What of a batch is already in the topic, so that nothing of it is written twice.
 *
 * @param complete whether all of the batch is
 * @param committed the markers of the slots that are, where some are missing
 */
record Replay(boolean complete, Map<Integer, BatchMarker> committed) implements Serializable {

    static final Replay NOTHING = new Replay(false, Map.of());
    private static final Replay EVERYTHING = new Replay(true, Map.of());

    /** Compare a run's first batch with the last ones that earlier runs recorded. */
    static Replay of(
            Map<Integer, BatchMarker> markers, long batch, int tasks, SinkSettings settings) {
        long last = markers.values().stream().mapToLong(BatchMarker::batch).max().orElse(-1);
        if (last > batch) {
            throw new SinkException("query '" + settings.name() + "': the checkpoint is at batch "
                    + batch + ", but batch " + last + " is in the topic already. The checkpoint was"
                    + " taken back to an older state; continue from the newest one, or start over"
                    + " with a new checkpoint and another queryId.");
        }
        if (last == -1 && batch > 0 && !settings.acceptsMissing()) {
            throw new SinkException("query '" + settings.name() + "': nothing says whether batch "
                    + batch + " was written before. Its markers expired (the brokers'"
                    + " offsets.retention.minutes after the query stopped), or this checkpoint was"
                    + " used with another sink or queryId. If the query was stopped between"
                    + " batches, set the option missingMarkers=continue (headwater run: --conf"
                    + " spark.headwater.missingMarkers=continue, once); if it was killed, compare"
                    + " the last records of the topic first, since they can come twice.");
        }
        if (last < batch) {
            return NOTHING;
        }
        return ofSame(onlyOf(last, markers), batch, tasks, settings);
    }

    private static Replay ofSame(
            Map<Integer, BatchMarker> committed, long batch, int tasks, SinkSettings settings) {
        int before = committed.values().iterator().next().tasks();
        if (committed.size() == before) {
            return EVERYTHING;
        }
        if (before != tasks) {
            throw new SinkException("query '" + settings.name() + "': " + committed.size() + " of "
                    + before + " tasks of batch " + batch + " are in the topic, and now the batch"
                    + " has " + tasks + " tasks, so that rows cannot be told apart. Restart it with"
                    + " the settings that it had (minPartitions, spark.sql.shuffle.partitions,"
                    + " spark.sql.adaptive.streaming.stateless.enabled=false); change them after"
                    + " this batch.");
        }
        return new Replay(false, committed);
    }

    private static Map<Integer, BatchMarker> onlyOf(long batch, Map<Integer, BatchMarker> markers) {
        return markers.entrySet().stream()
                .filter(entry -> entry.getValue().batch() == batch)
                .collect(java.util.stream.Collectors.toMap(
                        Map.Entry::getKey, Map.Entry::getValue));
    }
}
