package io.headwater.source;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Map;

import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;

/**
 * The connector's stream, with what it lacks: splits in an order that a replay repeats, and patience.
 *
 * <p>Spark's connector plans a batch in the order of a hash map that the broker's answer filled; a
 * replay plans it in the order of the checkpoint. With up to four partitions the two differ, and
 * task 0 gets the rows that task 2 had. A sink that knows tasks by their number would then write
 * some rows twice and others never.
 *
 * <p>Spark asks for the end of the topics every few milliseconds. Here the question is answered when
 * the answer is a new one: what is new, the connector finds out by itself as ever, so that neither
 * offsets nor checkpoints differ from its own.
 */
final class TopicStream implements InvocationHandler {

    private final MicroBatchStream connector;
    private final Map<String, Object> kafka;
    private final String progressTopic;
    private final String checkpoint;
    private QuerySources query;
    private boolean isRealTime;
    private boolean isUntilNow;

    /**
     * @param progressTopic where the query's progress is copied to; null if nowhere
     * @param checkpoint the source's folder in the query's checkpoint
     */
    TopicStream(
            MicroBatchStream connector,
            Map<String, Object> kafka,
            String progressTopic,
            String checkpoint) {
        this.connector = connector;
        this.kafka = kafka;
        this.progressTopic = progressTopic;
        this.checkpoint = checkpoint;
    }

    static boolean isHandlerOf(Object stream) {
        return Proxy.isProxyClass(stream.getClass())
                && Proxy.getInvocationHandler(stream) instanceof TopicStream;
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
        int count = arguments == null ? 0 : arguments.length;
        switch (method.getName()) {
            case "equals":
                return proxy == arguments[0];
            case "prepareForRealTimeMode":
                isRealTime = true;
                query();
                break;
            case "prepareForTriggerAvailableNow":
                isUntilNow = true;
                break;
            case "latestOffset":
                query().goesOn();
                if (count == 2 && !isUntilNow && !isRealTime) {
                    return latestOffset((Offset) arguments[0], method, arguments);
                }
                break;
            case "commit":
                // A batch has been planned, be it one without records: one more may be due.
                query().stir();
                copyProgress();
                break;
            case "planInputPartitions":
                Object splits = call(method, arguments);
                copyProgress();
                // With one argument it is real-time mode's, which is not replayed.
                if (count == 1) {
                    PartitionWatcher.watch(
                            kafka, this, query().id(), Positions.counts((Offset) arguments[0]));
                } else {
                    // A split's text begins with topic, partition and offsets.
                    Arrays.sort((InputPartition[]) splits, Comparator.comparing(Object::toString));
                }
                return splits;
            case "createReaderFactory":
                Object readers = call(method, arguments);
                return isRealTime
                        ? new RealTimeReaders((PartitionReaderFactory) readers, query().id())
                        : readers;
            case "stop":
                query().leave(this);
                PartitionWatcher.forget(kafka, this);
                break;
            default:
        }
        return call(method, arguments);
    }

    private Offset latestOffset(Offset start, Method method, Object[] arguments) throws Throwable {
        try {
            query().awaitNews(this, start);
            Offset latest;
            do {
                latest = (Offset) call(method, arguments);
                query().found(this, kafka, start, latest);
            } while (start.equals(latest) && query().awaitMore(this));
            return latest;
        } catch (InterruptedException stopped) {
            // Spark expects no such exception here, and looks for itself before it goes on.
            Thread.currentThread().interrupt();
            return start;
        }
    }

    private void copyProgress() {
        if (progressTopic != null) {
            query().planned(kafka, progressTopic, checkpoint);
        }
    }

    // Found in the query's own thread, which prepares the stream and asks for its offsets.
    private QuerySources query() {
        if (query == null) {
            query = QuerySources.ofThisThread();
        }
        return query;
    }

    private Object call(Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(connector, arguments);
        } catch (InvocationTargetException error) {
            throw error.getCause();
        }
    }
}
