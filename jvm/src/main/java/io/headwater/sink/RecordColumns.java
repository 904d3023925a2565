package io.headwater.sink;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * Where a row has what a record is made of: the columns of Spark's own Kafka sink (key, value,
 * headers, topic, partition), and the record's timestamp.
 */
final class RecordColumns implements Serializable {

    private static final long serialVersionUID = 1L;
    private static final int ABSENT = -1;

    private final String topic;
    private final int topicColumn;
    private final int key;
    private final boolean keyIsText;
    private final int value;
    private final boolean valueIsText;
    private final int headers;
    private final int partition;
    private final int timestamp;

    RecordColumns(StructType schema, String topic) {
        this.topic = topic;
        topicColumn = find(schema, "topic", DataTypes.StringType);
        key = find(schema, "key", DataTypes.StringType, DataTypes.BinaryType);
        keyIsText = isText(schema, key);
        value = find(schema, "value", DataTypes.StringType, DataTypes.BinaryType);
        valueIsText = isText(schema, value);
        headers = headers(schema);
        partition = find(schema, "partition", DataTypes.IntegerType);
        timestamp = find(schema, "timestamp", DataTypes.TimestampType);
        if (value == ABSENT) {
            throw new SinkException("a record needs a column 'value'; there are "
                    + String.join(", ", schema.fieldNames()) + ".");
        }
        if (topic == null && topicColumn == ABSENT) {
            throw new SinkException("to which topic? Set the option topic, or have a column topic.");
        }
    }

    ProducerRecord<byte[], byte[]> record(InternalRow row) {
        return new ProducerRecord<>(
                topic(row),
                present(row, partition) ? Integer.valueOf(row.getInt(partition)) : null,
                present(row, timestamp)
                        ? Long.valueOf(Math.floorDiv(row.getLong(timestamp), 1000L)) : null,
                bytes(row, key, keyIsText),
                bytes(row, value, valueIsText),
                present(row, headers) ? headers(row.getArray(headers)) : null);
    }

    private String topic(InternalRow row) {
        if (topic != null) {
            return topic;
        }
        if (row.isNullAt(topicColumn)) {
            throw new SinkException("a row names no topic: its column 'topic' is null. Set the"
                    + " option topic, or filter such rows out.");
        }
        return row.getUTF8String(topicColumn).toString();
    }

    private static boolean present(InternalRow row, int column) {
        return column != ABSENT && !row.isNullAt(column);
    }

    private static byte[] bytes(InternalRow row, int column, boolean isText) {
        if (!present(row, column)) {
            return null;
        }
        return isText ? row.getUTF8String(column).getBytes() : row.getBinary(column);
    }

    private static List<Header> headers(ArrayData array) {
        List<Header> headers = new ArrayList<>(array.numElements());
        for (int i = 0; i < array.numElements(); i++) {
            InternalRow header = array.getStruct(i, 2);
            byte[] content = header.isNullAt(1) ? null : header.getBinary(1);
            headers.add(new RecordHeader(header.getUTF8String(0).toString(), content));
        }
        return headers;
    }

    private static int find(StructType schema, String name, DataType... allowed) {
        int column = position(schema, name);
        if (column == ABSENT) {
            return ABSENT;
        }
        DataType type = schema.fields()[column].dataType();
        for (DataType candidate : allowed) {
            if (type.sameType(candidate)) {
                return column;
            }
        }
        throw wrongType(name, type, allowed[allowed.length - 1].catalogString());
    }

    private static int headers(StructType schema) {
        int column = position(schema, "headers");
        if (column == ABSENT) {
            return ABSENT;
        }
        DataType type = schema.fields()[column].dataType();
        if (type instanceof ArrayType array
                && array.elementType() instanceof StructType header
                && header.length() == 2
                && header.fields()[0].dataType().sameType(DataTypes.StringType)
                && header.fields()[1].dataType().sameType(DataTypes.BinaryType)) {
            return column;
        }
        throw wrongType("headers", type, "array<struct<key:string,value:binary>>");
    }

    private static int position(StructType schema, String name) {
        StructField[] fields = schema.fields();
        for (int i = 0; i < fields.length; i++) {
            if (fields[i].name().equalsIgnoreCase(name)) {
                return i;
            }
        }
        return ABSENT;
    }

    private static boolean isText(StructType schema, int column) {
        return column != ABSENT
                && schema.fields()[column].dataType().sameType(DataTypes.StringType);
    }

    private static SinkException wrongType(String column, DataType type, String wanted) {
        return new SinkException("column '" + column + "' is " + type.catalogString()
                + "; a record needs " + wanted + " there. Cast or encode it first.");
    }
}
