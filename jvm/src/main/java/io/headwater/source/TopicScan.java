package io.headwater.source;

import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Set;

import org.apache.spark.sql.connector.metric.CustomMetric;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** What Spark's connector scans, with a {@link TopicStream} in place of the connector's. */
public final class TopicScan implements Scan {

    private final Scan connector;
    private final CaseInsensitiveStringMap options;

    public TopicScan(Scan connector, CaseInsensitiveStringMap options) {
        this.connector = connector;
        this.options = options;
    }

    @Override
    public StructType readSchema() {
        return connector.readSchema();
    }

    @Override
    public String description() {
        return connector.description();
    }

    @Override
    public Batch toBatch() {
        return connector.toBatch();
    }

    @Override
    public MicroBatchStream toMicroBatchStream(String checkpoint) {
        MicroBatchStream stream = connector.toMicroBatchStream(checkpoint);
        return (MicroBatchStream) Proxy.newProxyInstance(
                TopicScan.class.getClassLoader(),
                interfaces(stream),
                new TopicStream(
                        stream,
                        EndWatcher.settings(options.asCaseSensitiveMap()),
                        options.get("progressTopic"),
                        checkpoint));
    }

    @Override
    public CustomMetric[] supportedCustomMetrics() {
        return connector.supportedCustomMetrics();
    }

    // A proxy, since what a stream can do (limits, triggers, metrics) is told by its interfaces.
    private static Class<?>[] interfaces(Object stream) {
        Set<Class<?>> found = new LinkedHashSet<>();
        for (Class<?> type = stream.getClass(); type != null; type = type.getSuperclass()) {
            found.addAll(Arrays.asList(type.getInterfaces()));
        }
        return found.toArray(new Class<?>[0]);
    }
}
