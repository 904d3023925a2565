package io.headwater.sink;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.WriterCommitMessage;

/** For the tasks of a batch of which every row is in the topic already. */
final class SkippingWriter implements DataWriter<InternalRow> {

    @Override
    public void write(InternalRow row) {
        // in the topic already
    }

    @Override
    public WriterCommitMessage commit() {
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
