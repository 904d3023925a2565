package io.headwater.operators;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.GetColumnByOrdinal;
import org.apache.spark.sql.catalyst.encoders.AgnosticEncoder;
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.CreateNamedStruct;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GetStructField;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.ObjectType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag;

/**
 * Hands rows over in Spark's own binary form, as one column that holds a struct.
 *
 * <p>Spark's encoder for {@code Row} would turn every string, number and date of every row into an
 * object and back, in the input, in the state and in the output, although the operators only carry
 * most of them along. Here a row costs one copy of its bytes, and no type can be lost on the way.
 */
public final class StructEncoder {
    private StructEncoder() {}

    /** An encoder of rows with these fields, which stand in one column of this name. */
    static Encoder<InternalRow> of(String column, StructType fields) {
        Expression row = new BoundReference(0, fields, false);
        Expression serializer = new CreateNamedStruct(seq(List.of(literal(column), row)));
        return encoder(fields, serializer, new GetColumnByOrdinal(0, fields));
    }

    /** An encoder of rows whose fields are columns, as Spark sorts and hashes them best. */
    static Encoder<InternalRow> ofColumns(StructType fields) {
        Expression row = new BoundReference(0, fields, false);
        List<Expression> written = new ArrayList<>();
        List<Expression> read = new ArrayList<>();
        for (int index = 0; index < fields.length(); index++) {
            StructField field = fields.fields()[index];
            written.add(literal(field.name()));
            written.add(new GetStructField(row, index, Option.empty()));
            read.add(literal(field.name()));
            read.add(new GetColumnByOrdinal(index, field.dataType()));
        }
        Expression serializer = new CreateNamedStruct(seq(written));
        return encoder(fields, serializer, new CreateNamedStruct(seq(read)));
    }

    /** A row that stays as it is when Spark puts the next one in the same place. */
    public static InternalRow own(InternalRow row) {
        return row.copy();
    }

    private static Encoder<InternalRow> encoder(
            StructType fields, Expression serializer, Expression row) {
        Expression deserializer =
                new StaticInvoke(
                        StructEncoder.class,
                        new ObjectType(InternalRow.class),
                        "own",
                        seq(List.of(row)),
                        seq(List.of()),
                        true,
                        false,
                        true,
                        Option.empty());
        return new ExpressionEncoder<>(new Described(fields), serializer, deserializer);
    }

    private static Expression literal(String text) {
        return Literal$.MODULE$.apply(text);
    }

    static <T> Seq<T> seq(List<? extends T> elements) {
        return CollectionConverters.<T>asScala(List.<T>copyOf(elements)).toSeq();
    }

    /** What Spark asks of an encoder besides its expressions. */
    private record Described(StructType fields) implements AgnosticEncoder<InternalRow> {
        @Override
        public boolean isPrimitive() {
            return false;
        }

        @Override
        public DataType dataType() {
            return fields;
        }

        @Override
        public StructType schema() {
            return fields;
        }

        @Override
        public ClassTag<InternalRow> clsTag() {
            return ClassTag.apply(InternalRow.class);
        }
    }
}
