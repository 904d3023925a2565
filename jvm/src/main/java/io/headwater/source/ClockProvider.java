package io.headwater.source;

import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.sources.DataSourceRegister;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * The clock on the wall as a stream, {@code format("headwater-clock")}: a row with the time whenever
 * a timer of its query is due.
 */
public final class ClockProvider implements TableProvider, DataSourceRegister {

    private static final StructType SCHEMA = new StructType().add("at", DataTypes.TimestampType);

    @Override
    public String shortName() {
        return "headwater-clock";
    }

    @Override
    public StructType inferSchema(CaseInsensitiveStringMap options) {
        return SCHEMA;
    }

    @Override
    public Table getTable(
            StructType schema, Transform[] partitioning, Map<String, String> properties) {
        return new ClockTable();
    }

    private static final class ClockTable implements SupportsRead {

        @Override
        public String name() {
            return "headwater-clock";
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
            return ClockScan::new;
        }
    }

    private static final class ClockScan implements Scan {

        @Override
        public StructType readSchema() {
            return SCHEMA;
        }

        @Override
        public MicroBatchStream toMicroBatchStream(String checkpoint) {
            return new ClockStream(checkpoint);
        }
    }
}
