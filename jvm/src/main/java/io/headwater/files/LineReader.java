package io.headwater.files;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.util.TaskCompletionListener;

/**
 * Lines of a part of a file on this machine, read by a task as it needs them.
 *
 * <p>The part ends with the end of a line, \n or \r\n.
 */
public final class LineReader implements MapPartitionsFunction<Long, byte[]> {
    private static final long serialVersionUID = 1L;
    private static final int BUFFER_BYTES = 1 << 18;

    private final String path;
    private final long start;
    private final long length;

    public LineReader(String path, long start, long length) {
        this.path = path;
        this.start = start;
        this.length = length;
    }

    /** Returns the lines in their order, without their ends, as the column value. */
    public Dataset<Row> read(SparkSession session) {
        return session.range(0, 1, 1, 1).mapPartitions(this, Encoders.BINARY()).toDF("value");
    }

    @Override
    public Iterator<byte[]> call(Iterator<Long> numbers) throws IOException {
        if (!numbers.hasNext()) {
            return Collections.emptyIterator();
        }
        FileInputStream file = new FileInputStream(path);
        TaskContext.get().addTaskCompletionListener((TaskCompletionListener) done -> close(file));
        file.getChannel().position(start);
        return new Lines(file);
    }

    private static void close(InputStream file) {
        try {
            file.close();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private final class Lines implements Iterator<byte[]> {
        private final InputStream file;
        private byte[] buffer = new byte[BUFFER_BYTES];
        private int next;
        private int filled;
        private long unread = length;

        Lines(InputStream file) {
            this.file = file;
        }

        @Override
        public boolean hasNext() {
            return next < filled || unread > 0;
        }

        @Override
        public byte[] next() {
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            int end = next;
            while (true) {
                while (end < filled && buffer[end] != '\n') {
                    end++;
                }
                if (end < filled) {
                    break;
                }
                end -= next;
                fill();
            }
            int last = end > next && buffer[end - 1] == '\r' ? end - 1 : end;
            byte[] line = Arrays.copyOfRange(buffer, next, last);
            next = end + 1;
            return line;
        }

        /** Reads on, with what is left of the buffer, the begin of a line, at its begin. */
        private void fill() {
            int left = filled - next;
            byte[] larger = left == buffer.length ? new byte[2 * left] : buffer;
            System.arraycopy(buffer, next, larger, 0, left);
            buffer = larger;
            next = 0;
            filled = left;
            try {
                int wanted = (int) Math.min(unread, buffer.length - filled);
                int count = wanted == 0 ? -1 : file.read(buffer, filled, wanted);
                if (count < 0) {
                    throw new IllegalStateException(
                            "the file has become shorter while its lines were read");
                }
                filled += count;
                unread -= count;
            } catch (IOException failure) {
                throw new UncheckedIOException(failure);
            }
        }
    }
}
