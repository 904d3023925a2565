package io.headwater.planning;

import java.util.List;

import io.headwater.json.PlainJsonReader;
import io.headwater.json.PlainJsonWriter;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.JsonToStructs;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.json.JsonToStructsEvaluator;
import org.apache.spark.sql.catalyst.expressions.json.StructsToJsonEvaluator;
import org.apache.spark.sql.catalyst.expressions.objects.Invoke;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.DataType;
import scala.Function1;
import scala.collection.immutable.Map;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractPartialFunction;

/**
 * Has JSON of plain types read and written by our own classes, which are several times as fast and
 * give what they cannot do to Spark's.
 *
 * <p>Spark's own way goes from bytes to characters, to tokens, to bytes again, and cannot be part of
 * the code that is generated for a stage.
 */
final class PlainJson extends Rule<LogicalPlan> {

    private static final String MODE = "mode";
    private static final String CORRUPT = "spark.sql.columnNameOfCorruptRecord";
    private static final String LEAVES_OUT_NULLS = "spark.sql.jsonGenerator.ignoreNullFields";

    @Override
    public LogicalPlan apply(LogicalPlan plan) {
        return plan.transformAllExpressions(new Replacement());
    }

    private static Expression replaced(Expression expression) {
        if (expression instanceof JsonToStructs json && isPlain(json.options())) {
            PlainJsonReader reader = PlainJsonReader.of(new JsonToStructsEvaluator(
                    json.options(),
                    json.dataType(),
                    SQLConf.get().getConfString(CORRUPT, "_corrupt_record"),
                    json.timeZoneId(),
                    json.variantAllowDuplicateKeys()));
            return reader == null ? null : call(reader, "read", json.dataType(), json.child());
        }
        if (expression instanceof Invoke call
                && call.targetObject() instanceof Literal literal
                && literal.value() instanceof StructsToJsonEvaluator json
                && json.options().isEmpty()
                && SQLConf.get().getConfString(LEAVES_OUT_NULLS, "true").equals("true")) {
            PlainJsonWriter writer = PlainJsonWriter.of(json);
            return writer == null
                    ? null
                    : call(writer, "write", call.dataType(), call.arguments().head());
        }
        return null;
    }

    // Options say how to read what else there is: dates, other signs, comments.
    private static boolean isPlain(Map<String, String> options) {
        return options.isEmpty() || options.size() == 1 && options.contains(MODE);
    }

    private static Expression call(Object owner, String method, DataType type, Expression given) {
        return new Invoke(
                Literal.fromObject(owner),
                method,
                type,
                seq(List.of(given)),
                seq(List.of()),
                true,
                true,
                true);
    }

    private static <T> Seq<T> seq(List<T> items) {
        return CollectionConverters.asScala(items).toSeq();
    }

    private static final class Replacement
            extends AbstractPartialFunction<Expression, Expression> {

        private static final long serialVersionUID = 1L;

        @Override
        public boolean isDefinedAt(Expression expression) {
            return replaced(expression) != null;
        }

        @Override
        @SuppressWarnings("unchecked") // Scala asks for a wider type, which an expression has
        public <A extends Expression, B> B applyOrElse(A expression, Function1<A, B> otherwise) {
            Expression replacement = replaced(expression);
            return replacement == null ? otherwise.apply(expression) : (B) replacement;
        }
    }
}
