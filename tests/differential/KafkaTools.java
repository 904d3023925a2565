import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.common.utils.Exit;
import org.slf4j.LoggerFactory;

/**
 * Runs Kafka's command-line tools one after the other in one JVM: a start costs more than a tool.
 *
 * Asked on standard input: class name, number of arguments, arguments, standard input of the tool,
 * all but the number as length and bytes. Answered on standard output: exit code, then what the
 * tool printed to both its streams.
 */
public final class KafkaTools {
    /** Scala keeps the stream that it finds first, so that one stays and what is behind it changes. */
    private static final class Switched extends OutputStream {
        volatile OutputStream target = OutputStream.nullOutputStream();

        @Override
        public void write(int b) throws IOException {
            target.write(b);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            target.write(bytes, offset, length);
        }
    }

    public static void main(String[] arguments) throws Exception {
        DataInputStream asked = new DataInputStream(System.in);
        DataOutputStream answered = new DataOutputStream(System.out);
        Switched printed = new Switched();
        PrintStream stream = new PrintStream(printed, true, StandardCharsets.UTF_8);
        System.setErr(new PrintStream(OutputStream.nullOutputStream()));
        LoggerFactory.getILoggerFactory(); // says once that nothing is logged; nobody needs to know
        System.setOut(stream);
        System.setErr(stream);
        Exit.setExitProcedure(KafkaTools::exit);
        Exit.setHaltProcedure(KafkaTools::exit);
        Exit.setShutdownHookAdder((name, hook) -> { });
        int length;
        while ((length = asked.readInt()) >= 0) {
            String name = new String(asked.readNBytes(length), StandardCharsets.UTF_8);
            String[] given = new String[asked.readInt()];
            for (int i = 0; i < given.length; i++) {
                given[i] = new String(asked.readNBytes(asked.readInt()), StandardCharsets.UTF_8);
            }
            System.setIn(new ByteArrayInputStream(asked.readNBytes(asked.readInt())));
            ByteArrayOutputStream output = new ByteArrayOutputStream();
            printed.target = output;
            int code = run(name, given, stream);
            stream.flush();
            printed.target = OutputStream.nullOutputStream();
            answered.writeInt(code);
            answered.writeInt(output.size());
            output.writeTo(answered);
            answered.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    private static final AtomicReference<CompletableFuture<Integer>> ENDED =
        new AtomicReference<>();

    /** A tool that exits stops where it is: an exception would be caught, and printed, by it. */
    private static void exit(int code, String message) {
        ENDED.get().complete(code);
        while (true) {
            LockSupport.park();
        }
    }

    private static int run(String name, String[] arguments, PrintStream stream) throws Exception {
        CompletableFuture<Integer> ended = new CompletableFuture<>();
        ENDED.set(ended);
        Thread tool = new Thread(() -> {
            try {
                Class.forName(name).getMethod("main", String[].class)
                    .invoke(null, (Object) arguments);
                ended.complete(0);
            } catch (InvocationTargetException failure) {
                failure.getCause().printStackTrace(stream);
                ended.complete(1);
            } catch (ReflectiveOperationException failure) {
                ended.completeExceptionally(failure);
            }
        });
        tool.setDaemon(true);
        tool.start();
        return ended.get();
    }
}
