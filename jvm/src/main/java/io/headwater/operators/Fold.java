package io.headwater.operators;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.LogicalRDD;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag;

/**
 * Works a row into a state by expressions of Spark's own SQL, one for each field of the state.
 *
 * <p>The expressions name the {@code state}, null before the first row, and the {@code row}. Spark
 * checks, optimises and compiles them as it does in any query, so that numbers overflow, strings
 * compare and decimals round here as everywhere else.
 */
final class Fold implements Serializable {
    private static final long serialVersionUID = 1L;

    private final StructType fields;
    private final ArrayList<Step> steps;
    private transient List<UnsafeProjection> compiled;

    private Fold(StructType fields, ArrayList<Step> steps) {
        this.fields = fields;
        this.steps = steps;
    }

    static Fold of(SparkSession spark, StructType state, StructType row, List<String> updates) {
        StructType scope = new StructType().add("state", state, true).add("row", row, false);
        Dataset<Row> before =
                spark.internalCreateDataFrame(
                        spark.sparkContext().emptyRDD(ClassTag.apply(InternalRow.class)),
                        scope,
                        false);
        List<Column> columns = new ArrayList<>();
        for (int index = 0; index < updates.size(); index++) {
            StructField field = state.fields()[index];
            Column update = functions.expr(updates.get(index)).cast(field.dataType());
            columns.add(update.as(field.name()));
        }
        Dataset<Row> after = before.select(columns.toArray(new Column[0]));
        return new Fold(state, steps(plan(after), outputOf(before)));
    }

    StructType fields() {
        return fields;
    }

    /** The state after this row. */
    InternalRow after(InternalRow state, InternalRow row) {
        InternalRow result = Operator.row(state, row);
        for (UnsafeProjection projection : projections()) {
            result = projection.apply(result);
        }
        // The projection writes each result over the one before.
        return result.copy();
    }

    private List<UnsafeProjection> projections() {
        if (compiled == null) {
            compiled = new ArrayList<>();
            for (Step step : steps) {
                UnsafeProjection projection =
                        UnsafeProjection.create(step.expressions(), step.input());
                projection.initialize(0);
                compiled.add(projection);
            }
        }
        return compiled;
    }

    /** The optimiser may have split the expressions in several projections, one upon the other. */
    private static ArrayList<Step> steps(LogicalPlan optimized, Seq<Attribute> scope) {
        ArrayList<Step> steps = new ArrayList<>();
        LogicalPlan plan = optimized;
        while (plan instanceof Project project) {
            List<NamedExpression> list = CollectionConverters.asJava(project.projectList());
            List<Expression> expressions = new ArrayList<>();
            list.forEach(expression -> expressions.add((Expression) expression));
            plan = project.child();
            Seq<Attribute> input = plan instanceof Project ? plan.output() : scope;
            steps.add(new Step(StructEncoder.seq(expressions), input));
        }
        if (steps.isEmpty() || !(plan instanceof LogicalRDD)) {
            throw new IllegalArgumentException(
                    "an aggregation must be made of expressions over one row, without aggregate,"
                            + " window, table or Python functions; Spark would run\n"
                            + optimized);
        }
        Collections.reverse(steps);
        return steps;
    }

    private static LogicalPlan plan(Dataset<Row> data) {
        return ((org.apache.spark.sql.classic.Dataset<Row>) data).queryExecution().optimizedPlan();
    }

    private static Seq<Attribute> outputOf(Dataset<Row> data) {
        return ((org.apache.spark.sql.classic.Dataset<Row>) data).logicalPlan().output();
    }

    private record Step(Seq<Expression> expressions, Seq<Attribute> input)
            implements Serializable {}
}
