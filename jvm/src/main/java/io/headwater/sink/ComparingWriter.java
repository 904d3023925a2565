package io.headwater.sink;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.WriterCommitMessage;

/**
 * For a task that committed while others of its batch did not. It writes nothing, and makes sure
 * that it got as many rows as before: others mean that rows moved between tasks.
 */
final class ComparingWriter implements DataWriter<InternalRow> {

    private final SinkSettings settings;
    private final int slot;
    private final BatchMarker before;
    private long rows;

    ComparingWriter(SinkSettings settings, int slot, BatchMarker before) {
        this.settings = settings;
        this.slot = slot;
        this.before = before;
    }

    @Override
    public void write(InternalRow row) {
        rows++;
    }

    @Override
    public WriterCommitMessage commit() {
        if (rows != before.rows()) {
            throw new SinkException("query '" + settings.name() + "': task " + slot + " of batch "
                    + before.batch() + " wrote " + before.rows() + " rows before and has " + rows
                    + " now, so rows would be lost or doubled. A replay must give each task the"
                    + " same rows: read topics with format headwater-kafka, use repartition instead"
                    + " of coalesce, and no random filter.");
        }
        return Written.NOTHING;
    }

    @Override
    public void abort() {
        // nothing was begun
    }

    @Override
    public void close() {
        // nothing is held
    }
}
