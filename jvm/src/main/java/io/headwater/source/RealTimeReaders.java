package io.headwater.source;

import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.SupportsRealTimeRead;

/** Makes the connector's readers of a query in real-time mode end together, see RealTimeBatch. */
record RealTimeReaders(PartitionReaderFactory connector, String query)
        implements PartitionReaderFactory {

    private static final String BATCH = "streaming.sql.batchId";

    @Override
    @SuppressWarnings("unchecked")
    public PartitionReader<InternalRow> createReader(InputPartition partition) {
        String batch = TaskContext.get().getLocalProperty(BATCH);
        return new RealTimeReader(
                (SupportsRealTimeRead<InternalRow>) connector.createReader(partition),
                RealTimeBatch.of(query, batch));
    }
}
