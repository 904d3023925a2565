package io.headwater.testing;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;

/** The records that a test gives, as one partition; they stay, for a query that begins again. */
final class GivenStream implements MicroBatchStream {

    private final GivenRecords records;
    private final GivenRound round;

    GivenStream(GivenRecords records, String query) {
        this.records = records;
        this.round = records.round(query);
        round.start();
    }

    @Override
    public Offset initialOffset() {
        return new Position(0);
    }

    @Override
    public Offset latestOffset() {
        return new Position(round.endFor(this));
    }

    @Override
    public Offset deserializeOffset(String json) {
        return new Position(Integer.parseInt(json));
    }

    @Override
    public InputPartition[] planInputPartitions(Offset start, Offset end) {
        return new InputPartition[] {
            new Part(records.between(((Position) start).count, ((Position) end).count))
        };
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
        return new Readers();
    }

    @Override
    public void commit(Offset end) {}

    @Override
    public void stop() {}

    private static final class Position extends Offset {

        private final int count;

        Position(int count) {
            this.count = count;
        }

        @Override
        public String json() {
            return Integer.toString(count);
        }
    }

    private record Part(InternalRow[] rows) implements InputPartition {}

    private static final class Readers implements PartitionReaderFactory {

        private static final long serialVersionUID = 1L;

        @Override
        public PartitionReader<InternalRow> createReader(InputPartition partition) {
            return new Reader(((Part) partition).rows());
        }
    }

    private static final class Reader implements PartitionReader<InternalRow> {

        private final InternalRow[] rows;
        private int next;

        Reader(InternalRow[] rows) {
            this.rows = rows;
        }

        @Override
        public boolean next() {
            return next++ < rows.length;
        }

        @Override
        public InternalRow get() {
            return rows[next - 1];
        }

        @Override
        public void close() {}
    }
}
