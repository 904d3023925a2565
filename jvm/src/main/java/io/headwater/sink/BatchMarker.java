package io.headwater.sink;

import java.io.Serializable;

import org.apache.kafka.clients.consumer.OffsetAndMetadata;

/**
 * What a task's transaction records beside its rows, as a committed offset: which batch it was.
 *
 * @param batch the batch's number in its checkpoint
 * @param tasks how many tasks the batch had
 * @param rows how many rows this one wrote
 * @param checkpoint whose numbers these are
 */
record BatchMarker(long batch, int tasks, long rows, String checkpoint) implements Serializable {

    private static final String VERSION = "1";

    OffsetAndMetadata toOffset() {
        return new OffsetAndMetadata(
                batch + 1, String.join(" ", VERSION, "" + tasks, "" + rows, checkpoint));
    }

    static BatchMarker of(OffsetAndMetadata offset) {
        String[] parts = offset.metadata().split(" ", 4);
        if (parts.length != 4 || !parts[0].equals(VERSION)) {
            throw new SinkException("the group that records this query's batches has an offset that"
                    + " this version did not write: '" + offset.metadata() + "'. Give the query"
                    + " another queryId.");
        }
        return new BatchMarker(
                offset.offset() - 1,
                Integer.parseInt(parts[1]),
                Long.parseLong(parts[2]),
                parts[3]);
    }
}
