package io.headwater.sink;

import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;

import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.WriterCommitMessage;

/** Writes one task's rows in one transaction, whose commit also records the batch. */
final class TransactionalWriter implements DataWriter<InternalRow> {

    private final SinkSettings settings;
    private final RecordColumns columns;
    private final SlotProducer slot;
    private final long batch;
    private final int tasks;
    private final AtomicReference<SinkException> failure = new AtomicReference<>();
    private long rows;
    private boolean begun;
    private boolean done;

    TransactionalWriter(
            SinkSettings settings,
            RecordColumns columns,
            SlotProducer slot,
            long batch,
            int tasks) {
        this.settings = settings;
        this.columns = columns;
        this.slot = slot;
        this.batch = batch;
        this.tasks = tasks;
    }

    @Override
    public void write(InternalRow row) {
        begin();
        ProducerRecord<byte[], byte[]> record = columns.record(row);
        String topic = record.topic();
        try {
            slot.producer().send(record, (metadata, error) -> {
                if (error != null) {
                    failure.compareAndSet(null, SinkException.of(error, topic, settings));
                }
            });
        } catch (KafkaException error) {
            failure.compareAndSet(null, SinkException.of(error, topic, settings));
        }
        rows++;
        check();
    }

    @Override
    public WriterCommitMessage commit() {
        // Tasks without rows commit as well: the batch is complete when each of them has.
        begin();
        BatchMarker marker = new BatchMarker(batch, tasks, rows, settings.checkpoint());
        try {
            // First the rows, so that what is wrong with them is reported as such.
            slot.producer().flush();
            check();
            slot.producer().sendOffsetsToTransaction(
                    Map.of(MarkerGroup.partition(settings, slot.slot()), marker.toOffset()),
                    new ConsumerGroupMetadata(settings.name()));
            slot.producer().commitTransaction();
        } catch (KafkaException error) {
            // Committed or not: the next attempt learns it from the marker.
            throw SinkException.of(error, settings.topic(), settings);
        }
        done = true;
        slot.committed(marker);
        SlotProducers.giveBack(slot);
        return new Written(rows);
    }

    @Override
    public void abort() {
        discard();
    }

    @Override
    public void close() {
        discard();
    }

    private void begin() {
        if (!begun) {
            begun = true;
            try {
                slot.producer().beginTransaction();
            } catch (KafkaException error) {
                throw SinkException.of(error, settings.topic(), settings);
            }
        }
    }

    private void check() {
        SinkException first = failure.get();
        if (first != null) {
            throw first;
        }
    }

    private void discard() {
        if (!done) {
            done = true;
            SlotProducers.discard(slot);
        }
    }
}
