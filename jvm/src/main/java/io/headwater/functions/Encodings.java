package io.headwater.functions;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.unsafe.types.UTF8String;

/** Bytes as texts in the encodings hex, utf8, ascii and base64; null for what is none of them. */
public final class Encodings {
    private static final Pattern HEX = Pattern.compile("0x(.*)|[xX]'(.*)'|(.*)", Pattern.DOTALL);

    private Encodings() {}

    /** The bytes that a text writes. */
    public static byte[] toBytes(UTF8String text, UTF8String encoding) {
        try {
            return switch (encoding.toString().toLowerCase(Locale.ROOT)) {
                case "hex" -> HexFormat.of().parseHex(digits(text.toString()));
                case "utf8" -> text.getBytes();
                case "ascii" -> text.toString().getBytes(StandardCharsets.US_ASCII);
                case "base64" -> Base64.getDecoder().decode(text.toString());
                default -> null;
            };
        } catch (IllegalArgumentException malformed) {
            return null;
        }
    }

    /** The text that bytes are written as; hexadecimal digits are capitals. */
    public static UTF8String fromBytes(byte[] bytes, UTF8String encoding) {
        String text =
                switch (encoding.toString().toLowerCase(Locale.ROOT)) {
                    case "hex" -> HexFormat.of().withUpperCase().formatHex(bytes);
                    case "utf8" -> new String(bytes, StandardCharsets.UTF_8);
                    case "ascii" -> new String(bytes, StandardCharsets.US_ASCII);
                    case "base64" -> Base64.getEncoder().encodeToString(bytes);
                    default -> null;
                };
        return UTF8String.fromString(text);
    }

    /** A text of one encoding in another; hexadecimal digits are small letters. */
    public static UTF8String encode(UTF8String text, UTF8String from, UTF8String to) {
        byte[] bytes = toBytes(text, from);
        if (bytes == null) {
            return null;
        }
        UTF8String encoded = fromBytes(bytes, to);
        boolean isHex = to.toString().equalsIgnoreCase("hex");
        return isHex && encoded != null ? encoded.toLowerCase() : encoded;
    }

    /** The bytes between delimiters; with an empty delimiter each byte by itself. */
    public static ArrayData split(byte[] bytes, byte[] delimiter) {
        List<byte[]> parts = new ArrayList<>();
        int start = 0;
        for (int at = 0; at + Math.max(1, delimiter.length) <= bytes.length; ) {
            if (delimiter.length == 0) {
                parts.add(new byte[] {bytes[at++]});
            } else if (Arrays.equals(
                    bytes, at, at + delimiter.length, delimiter, 0, delimiter.length)) {
                parts.add(Arrays.copyOfRange(bytes, start, at));
                at += delimiter.length;
                start = at;
            } else {
                at++;
            }
        }
        if (delimiter.length > 0) {
            parts.add(Arrays.copyOfRange(bytes, start, bytes.length));
        }
        return new GenericArrayData(parts.toArray());
    }

    private static String digits(String text) {
        Matcher matcher = HEX.matcher(text);
        if (!matcher.matches()) {
            return text;
        }
        if (matcher.group(1) != null) {
            // A number may begin with half a byte.
            return (matcher.group(1).length() % 2 == 0 ? "" : "0") + matcher.group(1);
        }
        return matcher.group(2) != null ? matcher.group(2) : text;
    }
}
