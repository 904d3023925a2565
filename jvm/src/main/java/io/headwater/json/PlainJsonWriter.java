package io.headwater.json;

import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.json.StructsToJsonEvaluator;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Writes objects of texts, numbers and truth values as Spark does, null fields left out, straight as
 * bytes. A row with something to escape is left to Spark.
 */
public final class PlainJsonWriter implements Serializable {

    private static final long serialVersionUID = 1L;
    private static final int LONGEST_NUMBER = 26;
    private static final byte[] TRUE = FieldKind.bytes("true");
    private static final byte[] FALSE = FieldKind.bytes("false");
    private static final byte[] SMALLEST = FieldKind.bytes(Long.toString(Long.MIN_VALUE));

    private final StructsToJsonEvaluator spark;
    private final FieldKind[] kinds;
    /** Each with quotes and colon. */
    private final byte[][] names;

    private byte[] buffer = new byte[256];
    private int at;

    private PlainJsonWriter(StructsToJsonEvaluator spark, FieldKind[] kinds, byte[][] names) {
        this.spark = spark;
        this.kinds = kinds;
        this.names = names;
    }

    /** Return a writer that does what Spark's does; null where the type is not that plain. */
    public static PlainJsonWriter of(StructsToJsonEvaluator spark) {
        FieldKind[] kinds = FieldKind.of(spark.inputSchema());
        if (kinds == null) {
            return null;
        }
        StructField[] fields = ((StructType) spark.inputSchema()).fields();
        byte[][] names = new byte[fields.length][];
        for (int i = 0; i < fields.length; i++) {
            names[i] = FieldKind.bytes('"' + fields[i].name() + "\":");
        }
        return new PlainJsonWriter(spark, kinds, names);
    }

    public UTF8String write(InternalRow row) {
        at = 0;
        put('{');
        for (int i = 0; i < kinds.length; i++) {
            if (row.isNullAt(i)) {
                continue;
            }
            if (at > 1) {
                put(',');
            }
            put(names[i]);
            if (!isWritten(row, i)) {
                return (UTF8String) spark.evaluate(row);
            }
        }
        put('}');
        return UTF8String.fromBytes(Arrays.copyOf(buffer, at));
    }

    private boolean isWritten(InternalRow row, int field) {
        switch (kinds[field]) {
            case TEXT:
                return isText(row.getUTF8String(field));
            case LONG:
                put(row.getLong(field));
                return true;
            case INT:
                put((long) row.getInt(field));
                return true;
            case SHORT:
                put((long) row.getShort(field));
                return true;
            case BYTE:
                put((long) row.getByte(field));
                return true;
            case BOOLEAN:
                put(row.getBoolean(field) ? TRUE : FALSE);
                return true;
            default:
                double number = row.getDouble(field);
                if (!Double.isFinite(number)) {
                    return false;
                }
                put(Double.toString(number).getBytes(StandardCharsets.ISO_8859_1));
                return true;
        }
    }

    private boolean isText(UTF8String text) {
        int size = text.numBytes();
        require(size + 2);
        buffer[at++] = '"';
        text.writeToMemory(buffer, Platform.BYTE_ARRAY_OFFSET + (long) at);
        int end = at + size;
        int all = 0;
        for (; at < end; at++) {
            byte one = buffer[at];
            if (one == '"' || one == '\\' || one >= 0 && one < ' ') {
                return false;
            }
            all |= one;
        }
        buffer[at++] = '"';
        return all >= 0 || text.isValid();
    }

    private void put(long number) {
        if (number == Long.MIN_VALUE) {
            put(SMALLEST);
            return;
        }
        require(LONGEST_NUMBER);
        long left = number;
        if (left < 0) {
            buffer[at++] = '-';
            left = -left;
        }
        int end = at + 1;
        for (long rest = left; rest >= 10; rest /= 10) {
            end++;
        }
        for (int i = end - 1; i >= at; i--) {
            buffer[i] = (byte) ('0' + left % 10);
            left /= 10;
        }
        at = end;
    }

    private void put(byte[] bytes) {
        require(bytes.length);
        System.arraycopy(bytes, 0, buffer, at, bytes.length);
        at += bytes.length;
    }

    private void put(char one) {
        require(1);
        buffer[at++] = (byte) one;
    }

    private void require(int more) {
        if (buffer.length - at < more) {
            buffer = Arrays.copyOf(buffer, Math.max(buffer.length * 2, at + more));
        }
    }
}
