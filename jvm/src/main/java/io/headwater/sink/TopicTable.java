package io.headwater.sink;

import java.util.EnumSet;
import java.util.Set;

import io.headwater.source.TopicScan;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.SupportsWrite;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.SupportsTruncate;
import org.apache.spark.sql.connector.write.Write;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.internal.connector.SupportsStreamingUpdateAsAppend;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** Topics as Spark's own connector reads them, in an order that a replay repeats, and our writes. */
final class TopicTable implements SupportsRead, SupportsWrite {

    private final Table connector;

    TopicTable(Table connector) {
        this.connector = connector;
    }

    @Override
    public String name() {
        return "headwater-kafka";
    }

    @Override
    @SuppressWarnings("deprecation") // what replaces it is made of this by default
    public StructType schema() {
        return connector.schema();
    }

    @Override
    public Set<TableCapability> capabilities() {
        return EnumSet.of(
                TableCapability.BATCH_READ,
                TableCapability.MICRO_BATCH_READ,
                TableCapability.BATCH_WRITE,
                TableCapability.STREAMING_WRITE,
                TableCapability.ACCEPT_ANY_SCHEMA);
    }

    @Override
    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
        return () ->
                new TopicScan(((SupportsRead) connector).newScanBuilder(options).build(), options);
    }

    @Override
    public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
        return new Builder(info);
    }

    /** Updates and complete results are appended, as Spark's own Kafka sink does it. */
    private record Builder(LogicalWriteInfo info)
            implements SupportsTruncate, SupportsStreamingUpdateAsAppend {

        @Override
        public WriteBuilder truncate() {
            return this;
        }

        @Override
        public Write build() {
            return new TransactionalWrite(info);
        }
    }
}
