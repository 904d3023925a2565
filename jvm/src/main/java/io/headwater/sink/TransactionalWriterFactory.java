package io.headwater.sink;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.DataWriterFactory;
import org.apache.spark.sql.connector.write.streaming.StreamingDataWriterFactory;

/** Goes to every task of one batch and makes its writer, or none where the rows are there already. */
record TransactionalWriterFactory(
        SinkSettings settings, RecordColumns columns, long batch, int tasks, Replay replay)
        implements DataWriterFactory, StreamingDataWriterFactory {

    @Override
    public DataWriter<InternalRow> createWriter(int partition, long task) {
        if (replay.complete()) {
            return new SkippingWriter();
        }
        BatchMarker before = replay.committed().get(partition);
        if (before != null) {
            return new ComparingWriter(settings, partition, before);
        }
        SlotProducer producer = SlotProducers.take(settings, partition);
        if (producer.lastBatch() >= batch) {
            // An earlier attempt of this task committed, and could not say so.
            BatchMarker marker = producer.last();
            SlotProducers.giveBack(producer);
            return new ComparingWriter(settings, partition, marker);
        }
        return new TransactionalWriter(settings, columns, producer, batch, tasks);
    }

    @Override
    public DataWriter<InternalRow> createWriter(int partition, long task, long epoch) {
        return createWriter(partition, task);
    }
}
