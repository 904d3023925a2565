package io.headwater.operators;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.ExpiredTimerInfo;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * What operators in event time share: time that goes on with the key's rows and with Spark's
 * watermark where the query has one, and timers that bring back what this time has closed.
 */
abstract class TimedOperator extends Operator {
    static final long NEVER = Long.MAX_VALUE;

    private static final long serialVersionUID = 1L;

    private transient boolean hasTimers;

    /** Bring back what this time has closed for a key. */
    abstract void expire(
            InternalRow key, long fired, TimerValues time, List<InternalRow> results);

    @Override
    public void init(OutputMode outputMode, TimeMode timeMode) {
        hasTimers = timeMode.equals(TimeMode.EventTime());
    }

    @Override
    public final Iterator<InternalRow> handleExpiredTimer(
            InternalRow key, TimerValues time, ExpiredTimerInfo expired) {
        List<InternalRow> results = new ArrayList<>();
        expire(key, expired.getExpiryTimeInMs(), time, results);
        return CollectionConverters.asScala(results.iterator());
    }

    final boolean hasTimers() {
        return hasTimers;
    }

    /** The watermark in microseconds. */
    final long watermark(TimerValues time) {
        return hasTimers
                ? TimeUnit.MILLISECONDS.toMicros(time.getCurrentWatermarkInMs())
                : Long.MIN_VALUE;
    }
}
