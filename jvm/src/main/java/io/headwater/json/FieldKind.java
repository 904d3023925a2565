package io.headwater.json;

import java.nio.charset.StandardCharsets;

import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** What a field of a plain object can be. */
enum FieldKind {
    TEXT,
    LONG,
    INT,
    SHORT,
    BYTE,
    DOUBLE,
    BOOLEAN;

    // One bit for each field in a long.
    private static final int MOST_FIELDS = 64;

    /** Return the kinds of a type's fields; null where one is something else, as most types are. */
    static FieldKind[] of(DataType type) {
        if (!(type instanceof StructType struct) || struct.length() > MOST_FIELDS) {
            return null;
        }
        StructField[] fields = struct.fields();
        FieldKind[] kinds = new FieldKind[fields.length];
        for (int i = 0; i < fields.length; i++) {
            kinds[i] = kind(fields[i].dataType());
            if (kinds[i] == null || !isPlain(fields[i].name())) {
                return null;
            }
        }
        return kinds;
    }

    static byte[] bytes(String name) {
        return name.getBytes(StandardCharsets.US_ASCII);
    }

    private static FieldKind kind(DataType type) {
        if (type.equals(DataTypes.StringType)) {
            return TEXT;
        }
        if (type.equals(DataTypes.LongType)) {
            return LONG;
        }
        if (type.equals(DataTypes.IntegerType)) {
            return INT;
        }
        if (type.equals(DataTypes.ShortType)) {
            return SHORT;
        }
        if (type.equals(DataTypes.ByteType)) {
            return BYTE;
        }
        if (type.equals(DataTypes.DoubleType)) {
            return DOUBLE;
        }
        return type.equals(DataTypes.BooleanType) ? BOOLEAN : null;
    }

    private static boolean isPlain(String name) {
        return name.chars().allMatch(c -> c >= ' ' && c < 0x7f && c != '"' && c != '\\');
    }
}
