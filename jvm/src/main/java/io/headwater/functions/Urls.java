package io.headwater.functions;

import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import org.apache.spark.unsafe.types.UTF8String;

/** The parts of URLs, without the escapes in them; null for a part that is not there. */
public final class Urls {
    private Urls() {}

    /** The protocol, host, path, query or fragment. */
    public static UTF8String part(UTF8String url, UTF8String name) {
        URI uri = uri(url);
        if (uri == null) {
            return null;
        }
        return UTF8String.fromString(
                switch (name.toString()) {
                    case "PROTOCOL" -> uri.getScheme();
                    case "HOST" -> uri.getHost();
                    case "PATH" -> uri.getPath();
                    case "QUERY" -> uri.getQuery();
                    default -> uri.getFragment();
                });
    }

    /** The port. */
    public static Integer port(UTF8String url) {
        URI uri = uri(url);
        return uri == null || uri.getPort() < 0 ? null : uri.getPort();
    }

    /** The value of a parameter in the query; empty where it has none. */
    public static UTF8String parameter(UTF8String url, UTF8String name) {
        URI uri = uri(url);
        if (uri == null || uri.getRawQuery() == null) {
            return null;
        }
        for (String pair : uri.getRawQuery().split("&")) {
            String[] sides = pair.split("=", 2);
            if (decoded(sides[0]).equals(name.toString())) {
                return UTF8String.fromString(sides.length < 2 ? "" : decoded(sides[1]));
            }
        }
        return null;
    }

    private static String decoded(String text) {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }

    private static URI uri(UTF8String url) {
        try {
            return new URI(url.toString());
        } catch (URISyntaxException malformed) {
            return null;
        }
    }
}
