package io.headwater.json;

import java.io.Serializable;
import java.nio.charset.StandardCharsets;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.json.JsonToStructsEvaluator;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Reads what most records are, an object of texts, numbers and truth values, in one pass over its
 * bytes; its texts are parts of the text that was read.
 *
 * <p>Whatever is out of the ordinary is left to Spark: an escape, a number of another type, an object
 * in the object, a field twice, and all that is no JSON. So there is one answer to what such a text
 * means, and it is Spark's.
 */
public final class PlainJsonReader implements Serializable {

    private static final long serialVersionUID = 1L;
    private static final int ELSE = -1;
    private static final int UNKNOWN = -1;
    // A long has room for all numbers of so many digits.
    private static final int MOST_DIGITS = 18;
    private static final int LONGEST_DOUBLE = 64;
    private static final int LONGEST_NAME = 1000;

    private final JsonToStructsEvaluator spark;
    private final FieldKind[] kinds;
    private final byte[][] names;

    private PlainJsonReader(JsonToStructsEvaluator spark, FieldKind[] kinds, byte[][] names) {
        this.spark = spark;
        this.kinds = kinds;
        this.names = names;
    }

    /** Return a reader that does what Spark's does; null where the type is not that plain. */
    public static PlainJsonReader of(JsonToStructsEvaluator spark) {
        FieldKind[] kinds = FieldKind.of(spark.nullableSchema());
        if (kinds == null) {
            return null;
        }
        StructField[] fields = ((StructType) spark.nullableSchema()).fields();
        byte[][] names = new byte[fields.length][];
        for (int i = 0; i < fields.length; i++) {
            // Spark never reads this field, but says in it what it could not read.
            boolean isAside = fields[i].name().equals(spark.nameOfCorruptRecord());
            names[i] = isAside ? null : FieldKind.bytes(fields[i].name());
        }
        return new PlainJsonReader(spark, kinds, names);
    }

    public InternalRow read(UTF8String text) {
        // Bytes of its own: what is part of something larger may be a buffer that the next row is
        // written to, and is copied here.
        byte[] data = text.getBytes();
        Object[] values = new Object[kinds.length];
        if (isRead(data, values)) {
            return new GenericInternalRow(values);
        }
        return (InternalRow) spark.evaluate(text);
    }

    private boolean isRead(byte[] data, Object[] values) {
        int at = afterSpace(data, 0);
        if (at == data.length || data[at] != '{') {
            return false;
        }
        at = afterSpace(data, at + 1);
        if (at < data.length && data[at] == '}') {
            return afterSpace(data, at + 1) == data.length;
        }
        long seen = 0;
        int next = 0;
        while (at < data.length && data[at] == '"') {
            int nameEnd = endOfName(data, at + 1);
            if (nameEnd == ELSE) {
                return false;
            }
            int field = find(data, at + 1, nameEnd, next);
            at = afterSpace(data, nameEnd + 1);
            if (at == data.length || data[at] != ':') {
                return false;
            }
            if (field != UNKNOWN) {
                if ((seen & 1L << field) != 0) {
                    return false;
                }
                seen |= 1L << field;
                next = field + 1;
            }
            at = value(data, afterSpace(data, at + 1), field, values);
            if (at == ELSE) {
                return false;
            }
            at = afterSpace(data, at);
            if (at == data.length) {
                return false;
            }
            if (data[at] == '}') {
                return afterSpace(data, at + 1) == data.length;
            }
            if (data[at] != ',') {
                return false;
            }
            at = afterSpace(data, at + 1);
        }
        return false;
    }

    /** Take the value that begins here; return where it ends, or ELSE. */
    private int value(byte[] data, int at, int field, Object[] values) {
        if (at == data.length) {
            return ELSE;
        }
        FieldKind kind = field == UNKNOWN ? null : kinds[field];
        switch (data[at]) {
            case '"':
                return kind == null || kind == FieldKind.TEXT
                        ? text(data, at + 1, field, values) : ELSE;
            case 'n':
                return after(data, at, "null");
            case 't':
                return truth(data, at, "true", Boolean.TRUE, field, values);
            case 'f':
                return truth(data, at, "false", Boolean.FALSE, field, values);
            default:
                return number(data, at, field, values);
        }
    }

    private static int text(byte[] data, int begin, int field, Object[] values) {
        int at = begin;
        int all = 0;
        while (true) {
            if (at == data.length) {
                return ELSE;
            }
            byte one = data[at];
            if (one == '"') {
                break;
            }
            // Bytes are signed: those of other than ASCII characters are negative.
            if (one == '\\' || one >= 0 && one < ' ') {
                return ELSE;
            }
            all |= one;
            at++;
        }
        if (field == UNKNOWN && all >= 0) {
            return at + 1;
        }
        UTF8String text =
                UTF8String.fromAddress(data, Platform.BYTE_ARRAY_OFFSET + (long) begin, at - begin);
        if (all < 0 && !text.isValid()) {
            return ELSE;
        }
        if (field != UNKNOWN) {
            values[field] = text;
        }
        return at + 1;
    }

    private int truth(
            byte[] data, int at, String word, Boolean truth, int field, Object[] values) {
        if (field != UNKNOWN) {
            if (kinds[field] != FieldKind.BOOLEAN) {
                return ELSE;
            }
            values[field] = truth;
        }
        return after(data, at, word);
    }

    private int number(byte[] data, int begin, int field, Object[] values) {
        int at = data[begin] == '-' ? begin + 1 : begin;
        int digits = at;
        long sum = 0;
        while (at < data.length && isDigit(data[at])) {
            sum = sum * 10 + data[at] - '0';
            at++;
        }
        int count = at - digits;
        if (count == 0 || count > MOST_DIGITS || count > 1 && data[digits] == '0') {
            return ELSE;
        }
        long whole = digits == begin ? sum : -sum;
        if (at < data.length && (data[at] == '.' || data[at] == 'e' || data[at] == 'E')) {
            return fraction(data, begin, at, field, values);
        }
        if (field == UNKNOWN) {
            return at;
        }
        Object number = as(kinds[field], whole);
        values[field] = number;
        return number == null ? ELSE : at;
    }

    private static Object as(FieldKind kind, long whole) {
        switch (kind) {
            case LONG:
                return whole;
            case INT:
                return whole == (int) whole ? (Object) (int) whole : null;
            case SHORT:
                return whole == (short) whole ? (Object) (short) whole : null;
            case BYTE:
                return whole == (byte) whole ? (Object) (byte) whole : null;
            case DOUBLE:
                return (double) whole;
            default:
                return null;
        }
    }

    private int fraction(byte[] data, int begin, int point, int field, Object[] values) {
        int at = point;
        if (data[at] == '.') {
            int first = at + 1;
            at = afterDigits(data, first);
            if (at == first) {
                return ELSE;
            }
        }
        if (at < data.length && (data[at] == 'e' || data[at] == 'E')) {
            at++;
            if (at < data.length && (data[at] == '+' || data[at] == '-')) {
                at++;
            }
            int first = at;
            at = afterDigits(data, first);
            if (at == first) {
                return ELSE;
            }
        }
        if (at - begin > LONGEST_DOUBLE) {
            return ELSE;
        }
        if (field != UNKNOWN) {
            if (kinds[field] != FieldKind.DOUBLE) {
                return ELSE;
            }
            String written = new String(data, begin, at - begin, StandardCharsets.ISO_8859_1);
            values[field] = Double.parseDouble(written);
        }
        return at;
    }

    /** Find a field by its name, first where it is if the fields come in their order. */
    private int find(byte[] data, int begin, int end, int next) {
        if (next < names.length && isName(next, data, begin, end)) {
            return next;
        }
        for (int i = 0; i < names.length; i++) {
            if (isName(i, data, begin, end)) {
                return i;
            }
        }
        return UNKNOWN;
    }

    private boolean isName(int field, byte[] data, int begin, int end) {
        byte[] name = names[field];
        if (name == null || name.length != end - begin) {
            return false;
        }
        for (int i = 0; i < name.length; i++) {
            if (name[i] != data[begin + i]) {
                return false;
            }
        }
        return true;
    }

    private static int endOfName(byte[] data, int begin) {
        int last = Math.min(data.length, begin + LONGEST_NAME);
        for (int at = begin; at < last; at++) {
            byte one = data[at];
            if (one == '"') {
                return at;
            }
            if (one == '\\' || one < ' ') {
                return ELSE;
            }
        }
        return ELSE;
    }

    private static int after(byte[] data, int begin, String word) {
        int end = begin + word.length();
        if (end > data.length) {
            return ELSE;
        }
        for (int i = 0; i < word.length(); i++) {
            if (data[begin + i] != word.charAt(i)) {
                return ELSE;
            }
        }
        return end;
    }

    private static int afterDigits(byte[] data, int begin) {
        int at = begin;
        while (at < data.length && isDigit(data[at])) {
            at++;
        }
        return at;
    }

    private static int afterSpace(byte[] data, int begin) {
        int at = begin;
        while (at < data.length
                && (data[at] == ' ' || data[at] == '\n' || data[at] == '\r' || data[at] == '\t')) {
            at++;
        }
        return at;
    }

    private static boolean isDigit(byte one) {
        return one >= '0' && one <= '9';
    }
}
