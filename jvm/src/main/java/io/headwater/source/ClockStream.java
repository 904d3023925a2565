package io.headwater.source;

import java.util.concurrent.TimeUnit;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow;

/**
 * A row with the time when a timer is due, and none before: a query without records stays idle.
 *
 * <p>Time is data here. It is in the checkpoint as an offset, so that a batch that is done again has
 * the time that it had.
 */
final class ClockStream implements MicroBatchStream, SupportsTriggerAvailableNow {

    private final String checkpoint;
    private Alarms alarms;
    private Offset untilNow;

    ClockStream(String checkpoint) {
        this.checkpoint = checkpoint;
    }

    @Override
    public Offset initialOffset() {
        return new Time(0);
    }

    @Override
    public void prepareForTriggerAvailableNow() {
        untilNow = new Time(System.currentTimeMillis());
    }

    @Override
    public Offset latestOffset() {
        throw new UnsupportedOperationException("the clock is asked from a start on");
    }

    @Override
    public Offset latestOffset(Offset start, ReadLimit limit) {
        if (untilNow != null) {
            return untilNow;
        }
        if (alarms == null) {
            alarms = Alarms.of(checkpoint);
            QuerySources.ofThisThread().wakeBy(alarms);
        }
        long now = System.currentTimeMillis();
        return alarms.areDue(((Time) start).ms, now) ? new Time(now) : start;
    }

    @Override
    public Offset deserializeOffset(String json) {
        return new Time(Long.parseLong(json));
    }

    @Override
    public InputPartition[] planInputPartitions(Offset start, Offset end) {
        boolean isLater = ((Time) end).ms > ((Time) start).ms;
        return isLater
                ? new InputPartition[] {new Tick(((Time) end).ms)}
                : new InputPartition[0];
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
        return new Readers();
    }

    @Override
    public void commit(Offset end) {}

    @Override
    public void stop() {}

    private static final class Time extends Offset {

        private final long ms;

        Time(long ms) {
            this.ms = ms;
        }

        @Override
        public String json() {
            return Long.toString(ms);
        }
    }

    private record Tick(long ms) implements InputPartition {}

    private static final class Readers implements PartitionReaderFactory {

        private static final long serialVersionUID = 1L;

        @Override
        public PartitionReader<InternalRow> createReader(InputPartition partition) {
            return new Reader(((Tick) partition).ms());
        }
    }

    private static final class Reader implements PartitionReader<InternalRow> {

        private final long ms;
        private boolean isRead;

        Reader(long ms) {
            this.ms = ms;
        }

        @Override
        public boolean next() {
            boolean isThere = !isRead;
            isRead = true;
            return isThere;
        }

        @Override
        public InternalRow get() {
            return new GenericInternalRow(new Object[] {TimeUnit.MILLISECONDS.toMicros(ms)});
        }

        @Override
        public void close() {}
    }
}
