package io.headwater.sink;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.Set;

import org.apache.spark.sql.connector.metric.CustomMetric;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.types.StructType;

/**
 * A scan whose splits come in the same order when a batch is replayed.
 *
 * <p>Spark's connector plans a batch in the order of a hash map that the broker's answer filled; a
 * replay plans it in the order of the checkpoint. With up to four partitions the two differ, and
 * task 0 gets the rows that task 2 had. A sink that knows tasks by their number would then write
 * some rows twice and others never.
 */
final class OrderedScan implements Scan {

    private final Scan connector;

    OrderedScan(Scan connector) {
        this.connector = connector;
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
                OrderedScan.class.getClassLoader(), interfaces(stream), new Ordering(stream));
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

    private record Ordering(MicroBatchStream stream) implements InvocationHandler {

        @Override
        public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
            if (method.getName().equals("equals")) {
                return proxy == arguments[0];
            }
            try {
                Object answer = method.invoke(stream, arguments);
                // With one argument it is real-time mode's, which is not replayed.
                if (method.getName().equals("planInputPartitions") && arguments.length == 2) {
                    // A split's text begins with topic, partition and offsets.
                    Arrays.sort((InputPartition[]) answer, Comparator.comparing(Object::toString));
                }
                return answer;
            } catch (InvocationTargetException error) {
                throw error.getCause();
            }
        }
    }
}
