package io.headwater.planning;

import java.util.ArrayList;
import java.util.List;

import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.ColumnarRule;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.UnaryExecNode;
import org.apache.spark.sql.execution.datasources.v2.RealTimeStreamScanExec;
import org.apache.spark.sql.execution.exchange.Exchange;
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Takes the shuffle away that has nothing to do, in real-time mode: from one partition to one.
 *
 * <p>Both of its ends look for rows a hundred times a second, each in a task of its own, and a row
 * waits for that. Spark plans it all the same, since it does not ask how many partitions a topic
 * has. Every batch is planned anew: when the topic gets a second partition, the shuffle is back.
 */
final class WithoutShuffle extends ColumnarRule {

    @Override
    public Rule<SparkPlan> preColumnarTransitions() {
        return new Rule<>() {
            @Override
            public SparkPlan apply(SparkPlan plan) {
                return without(plan);
            }
        };
    }

    private static SparkPlan without(SparkPlan plan) {
        List<SparkPlan> children = new ArrayList<>();
        boolean isChanged = false;
        for (SparkPlan child : CollectionConverters.asJava(plan.children())) {
            SparkPlan changed = without(child);
            isChanged |= changed != child;
            children.add(changed);
        }
        SparkPlan same = isChanged
                ? plan.withNewChildren(CollectionConverters.asScala(children).toSeq())
                : plan;
        if (same instanceof ShuffleExchangeExec shuffle
                && shuffle.outputPartitioning().numPartitions() == 1
                && isOnePartition(shuffle.child())) {
            return shuffle.child();
        }
        return same;
    }

    // What has one child and is no exchange has as many partitions as its child.
    private static boolean isOnePartition(SparkPlan plan) {
        if (plan instanceof RealTimeStreamScanExec scan) {
            return scan.inputPartitions().size() == 1;
        }
        return plan instanceof UnaryExecNode one
                && !(plan instanceof Exchange)
                && isOnePartition(one.child());
    }
}
