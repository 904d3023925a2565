package io.headwater.functions;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.UUID;
import org.apache.spark.unsafe.types.UTF8String;

/** Numbers: cut off, and out of bytes. A value that its bytes are too few or too many for is null. */
public final class Numbers {
    private static final int MOST_BYTES = 64;
    private static final int MOST_PLACES = 100;

    private Numbers() {}

    /** The number without what stands after so many places. */
    public static double trunc(double value, int places) {
        if (Double.isNaN(value) || Double.isInfinite(value)) {
            return value;
        }
        return BigDecimal.valueOf(value).setScale(places, RoundingMode.DOWN).doubleValue() + 0.0;
    }

    /** The same of an exact number, which Spark makes a decimal of again. */
    public static UTF8String trunc(UTF8String value, int places) {
        BigDecimal cut = new BigDecimal(value.toString()).setScale(places, RoundingMode.DOWN);
        return UTF8String.fromString(cut.toPlainString());
    }

    /** The least whole number that is not less. */
    public static double ceil(double value) {
        return Math.ceil(value) + 0.0;
    }

    /** The greatest whole number that is not more. */
    public static double floor(double value) {
        return Math.floor(value) + 0.0;
    }

    /** The nearest number with so many places; of two that are as near, the greater. */
    public static double round(double value, int places) {
        if (Double.isNaN(value) || Double.isInfinite(value)) {
            return value;
        }
        return rounded(BigDecimal.valueOf(value), places).doubleValue() + 0.0;
    }

    /** The same of an exact number, which Spark makes a decimal of again. */
    public static UTF8String round(UTF8String value, int places) {
        BigDecimal rounded = rounded(new BigDecimal(value.toString()), places);
        return UTF8String.fromString(rounded.toPlainString());
    }

    /** The exact number that bytes and a scale say, as Avro and Protobuf have it. */
    public static UTF8String decimalOf(byte[] bytes, int scale) {
        // No DECIMAL has more digits, and the text of one that claims them could fill the memory.
        boolean isPossible = bytes.length <= MOST_BYTES && Math.abs((long) scale) <= MOST_PLACES;
        if (bytes.length == 0 || !isPossible) {
            return null;
        }
        BigDecimal value = new BigDecimal(new BigInteger(bytes), scale);
        return UTF8String.fromString(value.toPlainString());
    }

    /** The bytes of an exact number without its scale. */
    public static byte[] bytesOf(UTF8String value) {
        return new BigDecimal(value.toString()).unscaledValue().toByteArray();
    }

    private static BigDecimal rounded(BigDecimal value, int places) {
        boolean isUp = value.signum() > 0;
        return value.setScale(places, isUp ? RoundingMode.HALF_UP : RoundingMode.HALF_DOWN);
    }

    /** The whole number of four bytes. */
    public static Integer intOf(byte[] bytes, UTF8String order) {
        return bytes.length == Integer.BYTES ? buffer(bytes, order).getInt() : null;
    }

    /** The whole number of eight bytes. */
    public static Long longOf(byte[] bytes, UTF8String order) {
        return bytes.length == Long.BYTES ? buffer(bytes, order).getLong() : null;
    }

    /** The number of eight bytes. */
    public static Double doubleOf(byte[] bytes, UTF8String order) {
        return bytes.length == Double.BYTES ? buffer(bytes, order).getDouble() : null;
    }

    /** The UUID of sixteen bytes. */
    public static UTF8String uuidOf(byte[] bytes) {
        if (bytes.length != 2 * Long.BYTES) {
            return null;
        }
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        return UTF8String.fromString(new UUID(buffer.getLong(), buffer.getLong()).toString());
    }

    private static ByteBuffer buffer(byte[] bytes, UTF8String order) {
        boolean isLittle = order.toString().equalsIgnoreCase("LITTLE_ENDIAN");
        return ByteBuffer.wrap(bytes)
                .order(isLittle ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN);
    }
}
