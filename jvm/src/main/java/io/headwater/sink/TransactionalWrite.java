package io.headwater.sink;

import java.util.UUID;

import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.write.BatchWrite;
import org.apache.spark.sql.connector.write.DataWriterFactory;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.PhysicalWriteInfo;
import org.apache.spark.sql.connector.write.Write;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.connector.write.streaming.StreamingDataWriterFactory;
import org.apache.spark.sql.connector.write.streaming.StreamingWrite;

/** Writes to topics in transactions: micro-batches of a query, or one batch. */
final class TransactionalWrite implements Write {

    private static final String BATCH = "streaming.sql.batchId";
    private static final String QUERY = "sql.streaming.queryId";
    private static final String RUN = "spark.jobGroup.id";

    private final SinkSettings settings;
    private final RecordColumns columns;
    private final String batch;

    TransactionalWrite(LogicalWriteInfo info) {
        settings = SinkSettings.of(info.options(), checkpoint(info), run());
        columns = new RecordColumns(info.schema(), settings.topic());
        // Within foreachBatch it is the query's batch that is repeated after a crash.
        batch = info.options().containsKey("queryId") ? property(BATCH) : null;
    }

    @Override
    public String description() {
        return "headwater-kafka";
    }

    @Override
    public StreamingWrite toStreaming() {
        return new Streaming();
    }

    @Override
    public BatchWrite toBatch() {
        return new Single(batch == null ? 0 : Long.parseLong(batch));
    }

    // Spark makes a new write for every batch, but all jobs of a query's run are one group.
    private static String run() {
        String group = property(RUN);
        return property(BATCH) == null || group == null ? UUID.randomUUID().toString() : group;
    }

    // A batch write has an identity of its own, which a repetition would not have.
    private static String checkpoint(LogicalWriteInfo info) {
        String query = property(QUERY);
        return query == null ? info.queryId() : query;
    }

    private static String property(String name) {
        return SparkSession.active().sparkContext().getLocalProperty(name);
    }

    private TransactionalWriterFactory factory(long number, PhysicalWriteInfo info) {
        int tasks = info.numPartitions();
        Replay replay = Run.of(settings).prepare(number, tasks);
        return new TransactionalWriterFactory(settings, columns, number, tasks, replay);
    }

    private final class Streaming implements StreamingWrite {

        @Override
        public StreamingDataWriterFactory createStreamingWriterFactory(PhysicalWriteInfo info) {
            String number = property(BATCH);
            if (number == null) {
                throw new SinkException("exactly-once writes need micro-batches. Use a trigger"
                        + " other than continuous and real-time.");
            }
            return factory(Long.parseLong(number), info);
        }

        @Override
        public boolean useCommitCoordinator() {
            return false; // Kafka's fencing lets at most one attempt of a task commit
        }

        @Override
        public void commit(long epoch, WriterCommitMessage[] messages) {
            Run.of(settings).completed(epoch);
        }

        @Override
        public void abort(long epoch, WriterCommitMessage[] messages) {
            // What tasks committed stays recorded, and the next run continues from there.
            Run.forget(settings);
        }
    }

    private final class Single implements BatchWrite {

        private final long number;

        Single(long number) {
            this.number = number;
        }

        @Override
        public DataWriterFactory createBatchWriterFactory(PhysicalWriteInfo info) {
            return factory(number, info);
        }

        @Override
        public boolean useCommitCoordinator() {
            return false;
        }

        @Override
        public void commit(WriterCommitMessage[] messages) {
            if (batch != null) {
                Run.of(settings).completed(number);
                return;
            }
            // Nobody will ever repeat this write under this name.
            Run.forget(settings);
            try (MarkerGroup group = new MarkerGroup(settings)) {
                group.delete();
            }
        }

        @Override
        public void abort(WriterCommitMessage[] messages) {
            Run.forget(settings);
        }
    }
}
