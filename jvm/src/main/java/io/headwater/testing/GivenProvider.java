package io.headwater.testing;

import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.sources.DataSourceRegister;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * Records of a test as a stream, {@code format("headwater-given")}: those that {@link GivenRecords}
 * has under the option {@code records}.
 */
public final class GivenProvider implements TableProvider, DataSourceRegister {

    private static final StructType SCHEMA = StructType.fromDDL(
            "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT,"
                    + " timestamp TIMESTAMP, headers ARRAY<STRUCT<key: STRING, value: BINARY>>");

    @Override
    public String shortName() {
        return "headwater-given";
    }

    @Override
    public StructType inferSchema(CaseInsensitiveStringMap options) {
        return SCHEMA;
    }

    @Override
    public Table getTable(
            StructType schema, Transform[] partitioning, Map<String, String> properties) {
        return new GivenTable();
    }

    private static final class GivenTable implements SupportsRead {

        @Override
        public String name() {
            return "headwater-given";
        }

        @Override
        @SuppressWarnings("deprecation") // what replaces it is made of this by default
        public StructType schema() {
            return SCHEMA;
        }

        @Override
        public Set<TableCapability> capabilities() {
            return EnumSet.of(TableCapability.MICRO_BATCH_READ);
        }

        @Override
        public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
            String id = options.get("records");
            return () -> new GivenScan(id);
        }
    }

    private record GivenScan(String id) implements Scan {

        @Override
        public StructType readSchema() {
            return SCHEMA;
        }

        @Override
        public MicroBatchStream toMicroBatchStream(String checkpoint) {
            // A folder for each source, in that of the sources, in that of the query.
            String query = new Path(checkpoint).getParent().getParent().getName();
            return new GivenStream(GivenRecords.of(id), query);
        }
    }
}
