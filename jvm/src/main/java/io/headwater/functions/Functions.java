package io.headwater.functions;

import java.util.List;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.ExpressionInfo;
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import scala.Option;
import scala.Tuple3;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractFunction1;

/**
 * The names under which Spark's SQL finds our functions: {@code hw_} and what they do.
 *
 * <p>A call is compiled into a query's code as a call of the static method, and is null where one of
 * its arguments is.
 */
public final class Functions {
    private static final DataType TEXTS = DataTypes.createArrayType(DataTypes.StringType);
    private static final DataType BYTES = DataTypes.createArrayType(DataTypes.BinaryType);

    private static final DataType TEXTS_BY_TEXT =
            DataTypes.createMapType(DataTypes.StringType, DataTypes.StringType);

    private record Function(String name, Class<?> in, String method, DataType result) {}

    private static final List<Function> FUNCTIONS =
            List.of(
                    new Function("hw_instr", Texts.class, "instr", DataTypes.IntegerType),
                    new Function("hw_chr", Texts.class, "chr", DataTypes.StringType),
                    new Function("hw_unescape", Texts.class, "unescape", DataTypes.StringType),
                    new Function("hw_trunc", Numbers.class, "trunc", DataTypes.DoubleType),
                    new Function("hw_trunc_exact", Numbers.class, "trunc", DataTypes.StringType),
                    new Function("hw_ceil", Numbers.class, "ceil", DataTypes.DoubleType),
                    new Function("hw_floor", Numbers.class, "floor", DataTypes.DoubleType),
                    new Function("hw_round", Numbers.class, "round", DataTypes.DoubleType),
                    new Function("hw_round_exact", Numbers.class, "round", DataTypes.StringType),
                    new Function("hw_int", Numbers.class, "intOf", DataTypes.IntegerType),
                    new Function("hw_bigint", Numbers.class, "longOf", DataTypes.LongType),
                    new Function("hw_double", Numbers.class, "doubleOf", DataTypes.DoubleType),
                    new Function("hw_decimal", Numbers.class, "decimalOf", DataTypes.StringType),
                    new Function("hw_decimal_bytes", Numbers.class, "bytesOf", DataTypes.BinaryType),
                    new Function("hw_uuid", Numbers.class, "uuidOf", DataTypes.StringType),
                    new Function("hw_to_bytes", Encodings.class, "toBytes", DataTypes.BinaryType),
                    new Function("hw_from_bytes", Encodings.class, "fromBytes", DataTypes.StringType),
                    new Function("hw_encode", Encodings.class, "encode", DataTypes.StringType),
                    new Function("hw_split_bytes", Encodings.class, "split", BYTES),
                    new Function("hw_is_json", JsonTexts.class, "isJson", DataTypes.BooleanType),
                    new Function(
                            "hw_json_names", JsonNames.class, "inCapitals", DataTypes.StringType),
                    new Function("hw_json_field", JsonTexts.class, "field", DataTypes.StringType),
                    new Function("hw_json_keys", JsonTexts.class, "keys", TEXTS),
                    new Function("hw_json_length", JsonTexts.class, "length", DataTypes.IntegerType),
                    new Function("hw_json_records", JsonTexts.class, "records", TEXTS_BY_TEXT),
                    new Function("hw_json_items", JsonTexts.class, "items", TEXTS),
                    new Function("hw_json_concat", JsonTexts.class, "concat", DataTypes.StringType),
                    new Function(
                            "hw_json_contains", JsonTexts.class, "contains", DataTypes.BooleanType),
                    new Function(
                            "hw_regexp_extract", Regexps.class, "extract", DataTypes.StringType),
                    new Function("hw_regexp_extract_all", Regexps.class, "extractAll", TEXTS),
                    new Function(
                            "hw_regexp_replace", Regexps.class, "replace", DataTypes.StringType),
                    new Function("hw_regexp_split", Regexps.class, "split", TEXTS),
                    new Function("hw_format_time", Times.class, "format", DataTypes.StringType),
                    new Function("hw_parse_time", Times.class, "parse", DataTypes.LongType),
                    new Function("hw_convert_zone", Times.class, "convertZone", DataTypes.LongType),
                    new Function("hw_url_part", Urls.class, "part", DataTypes.StringType),
                    new Function("hw_url_port", Urls.class, "port", DataTypes.IntegerType),
                    new Function("hw_url_parameter", Urls.class, "parameter", DataTypes.StringType));

    private Functions() {}

    /** Make the functions known to sessions. */
    public static void register(SparkSessionExtensions extensions) {
        for (Function function : FUNCTIONS) {
            extensions.injectFunction(
                    new Tuple3<>(
                            FunctionIdentifier.apply(function.name),
                            new ExpressionInfo(function.in.getName(), function.name),
                            new Call(function)));
        }
    }

    private static final class Call extends AbstractFunction1<Seq<Expression>, Expression> {
        private final Function function;

        Call(Function function) {
            this.function = function;
        }

        @Override
        public Expression apply(Seq<Expression> arguments) {
            return new StaticInvoke(
                    function.in,
                    function.result,
                    function.method,
                    arguments,
                    CollectionConverters.asScala(List.<org.apache.spark.sql.types.AbstractDataType>of())
                            .toSeq(),
                    true,
                    true,
                    true,
                    Option.empty());
        }
    }
}
