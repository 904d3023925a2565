package io.headwater.planning;

import io.headwater.functions.Functions;
import org.apache.spark.sql.SparkSessionExtensions;
import scala.runtime.AbstractFunction1;
import scala.runtime.BoxedUnit;

/** What Spark's planner learns from us; named in {@code spark.sql.extensions}. */
public final class Extensions extends AbstractFunction1<SparkSessionExtensions, BoxedUnit> {

    @Override
    public BoxedUnit apply(SparkSessionExtensions extensions) {
        extensions.injectColumnar(new AbstractFunction1<>() {
            @Override
            public WithoutShuffle apply(org.apache.spark.sql.SparkSession session) {
                return new WithoutShuffle();
            }
        });
        extensions.injectPreCBORule(new AbstractFunction1<>() {
            @Override
            public PlainJson apply(org.apache.spark.sql.SparkSession session) {
                return new PlainJson();
            }
        });
        Functions.register(extensions);
        return BoxedUnit.UNIT;
    }
}
