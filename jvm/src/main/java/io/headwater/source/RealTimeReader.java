package io.headwater.source;

import java.io.IOException;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.connector.read.streaming.PartitionOffset;
import org.apache.spark.sql.connector.read.streaming.SupportsRealTimeRead;

/** The connector's reader of a partition in real-time mode, which stops when its batch ends. */
final class RealTimeReader implements SupportsRealTimeRead<InternalRow> {

    /** Others may have read the record that ends the batch; well below what is left then. */
    static final long LOOK_EVERY_MS = 1_000;

    private final SupportsRealTimeRead<InternalRow> connector;
    private final RealTimeBatch batch;

    RealTimeReader(SupportsRealTimeRead<InternalRow> connector, RealTimeBatch batch) {
        this.connector = connector;
        this.batch = batch;
    }

    @Override
    public RecordStatus nextWithTimeout(Long startMs, Long timeoutMs) throws IOException {
        long now = startMs;
        long spark = now + timeoutMs;
        long end = Math.min(spark, batch.endMs());
        while (now < end) {
            RecordStatus status =
                    connector.nextWithTimeout(now, Math.min(end - now, LOOK_EVERY_MS));
            if (status.hasRecord()) {
                batch.read();
                return status;
            }
            now = System.currentTimeMillis();
            end = Math.min(spark, batch.endMs());
        }
        return RecordStatus.newStatusWithoutArrivalTime(false);
    }

    @Override
    public PartitionOffset getOffset() {
        return connector.getOffset();
    }

    @Override
    public boolean next() throws IOException {
        return connector.next();
    }

    @Override
    public InternalRow get() {
        return connector.get();
    }

    @Override
    public CustomTaskMetric[] currentMetricsValues() {
        return connector.currentMetricsValues();
    }

    @Override
    public void close() throws IOException {
        connector.close();
    }
}
