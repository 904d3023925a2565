package io.headwater.functions;

import java.util.regex.Pattern;
import org.apache.spark.unsafe.types.UTF8String;

/** Texts: where one is in another, and letters by their numbers. */
public final class Texts {
    private static final Pattern ESCAPED = Pattern.compile("(\\\\u[0-9a-fA-F]{4}){1,2}");

    private Texts() {}

    /**
     * The place of the nth occurrence from a position on, counted from 1 by letters, or 0. A negative
     * position is counted from the end, and the search goes backwards from there.
     */
    public static int instr(UTF8String text, UTF8String part, int position, int occurrence) {
        String searched = text.toString();
        String wanted = part.toString();
        if (position == 0 || occurrence < 1) {
            return 0;
        }
        int letters = searched.codePointCount(0, searched.length());
        int found = unit(searched, letters, position > 0 ? position - 1 : letters + position + 1);
        for (int count = 0; count < occurrence; count++) {
            found =
                    position > 0
                            ? searched.indexOf(wanted, found + (count == 0 ? 0 : 1))
                            : found <= 0 ? -1 : searched.lastIndexOf(wanted, found - 1);
            if (found < 0) {
                return 0;
            }
        }
        return searched.codePointCount(0, found) + 1;
    }

    /** Where a letter begins, among the units that a long letter has two of. */
    private static int unit(String text, int letters, int letter) {
        if (letter < 0) {
            return letter;
        }
        int inside = Math.min(letter, letters);
        return text.offsetByCodePoints(0, inside) + letter - inside;
    }

    /** The letter of a Unicode number; null where there is none. */
    public static UTF8String chr(int number) {
        return Character.isValidCodePoint(number)
                ? UTF8String.fromString(Character.toString(number))
                : null;
    }

    /** The letter that an escape such as {@code \\u004b} stands for; null where it is none. */
    public static UTF8String unescape(UTF8String escape) {
        String text = escape.toString();
        if (!ESCAPED.matcher(text).matches()) {
            return null;
        }
        StringBuilder letters = new StringBuilder();
        for (int at = 2; at < text.length(); at += 6) {
            letters.append((char) Integer.parseInt(text.substring(at, at + 4), 16));
        }
        return UTF8String.fromString(letters.toString());
    }
}
