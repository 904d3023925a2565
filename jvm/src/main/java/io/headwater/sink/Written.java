package io.headwater.sink;

import org.apache.spark.sql.connector.write.WriterCommitMessage;

/** What a task tells the driver at its end. */
record Written(long rows) implements WriterCommitMessage {

    static final Written NOTHING = new Written(0);
}
