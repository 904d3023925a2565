package io.headwater.sink;

import java.util.Map;

import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.sources.DataSourceRegister;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** Spark's name for topics with exactly-once writes: {@code format("headwater-kafka")}. */
public final class TopicProvider implements TableProvider, DataSourceRegister {

    private static final String CONNECTOR = "org.apache.spark.sql.kafka010.KafkaSourceProvider";

    @Override
    public String shortName() {
        return "headwater-kafka";
    }

    @Override
    public StructType inferSchema(CaseInsensitiveStringMap options) {
        return connector().inferSchema(options);
    }

    @Override
    public Table getTable(
            StructType schema, Transform[] partitioning, Map<String, String> properties) {
        return new TopicTable(connector().getTable(schema, partitioning, properties));
    }

    // Looked up by name: the connector is not there when this is compiled.
    private static TableProvider connector() {
        try {
            ClassLoader loader = Thread.currentThread().getContextClassLoader();
            return (TableProvider) Class.forName(CONNECTOR, true, loader)
                    .getDeclaredConstructor()
                    .newInstance();
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(
                    "headwater-kafka needs Spark's own Kafka connector, spark-sql-kafka-0-10,"
                            + " on the class path",
                    error);
        }
    }
}
