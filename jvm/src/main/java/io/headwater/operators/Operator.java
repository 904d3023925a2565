package io.headwater.operators;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * What all operators share: rows of a key in arrival order, and state as rows.
 *
 * <p>Spark calls with all rows that a micro-batch has for a key, in real-time mode with each row
 * alone. Subclasses read state once per call and write it once, at the end.
 */
abstract class Operator extends StatefulProcessor<InternalRow, InternalRow, InternalRow> {
    private static final long serialVersionUID = 1L;

    /** The fields of the rows that come out. */
    abstract StructType output();

    /** Take the rows in the order in which they arrived and add what comes of them to results. */
    abstract void process(List<InternalRow> rows, TimerValues time, List<InternalRow> results);

    @Override
    public final Iterator<InternalRow> handleInputRows(
            InternalRow key, Iterator<InternalRow> rows, TimerValues time) {
        List<InternalRow> results = new ArrayList<>();
        process(ArrivalOrder.of(rows), time, results);
        return CollectionConverters.asScala(results.iterator());
    }

    /** State of a key under this name: rows with these fields. */
    final ValueState<InternalRow> state(String name, StructType fields) {
        return getHandle().getValueState(name, StructEncoder.of(name, fields), TTLConfig.NONE());
    }

    static InternalRow row(Object... values) {
        return new GenericInternalRow(values);
    }

    static StructType fields(String name, DataType type) {
        return new StructType().add(name, type, true);
    }
}
