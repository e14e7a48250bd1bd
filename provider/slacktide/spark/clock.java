// The body of a class that Spark's own code generator compiles (Janino: no lambdas, no generics).
// It puts the same instant in the place of every function of the clock in an analysed plan, as
// Spark's optimiser does with the instant at which it happens to run.

public java.lang.Object generate(Object[] references) {
  org.apache.spark.sql.catalyst.plans.logical.LogicalPlan plan =
      (org.apache.spark.sql.catalyst.plans.logical.LogicalPlan) references[0];
  return plan.transformAllExpressionsWithSubqueries(
      new Fixed(java.time.Instant.parse((String) references[1])));
}

public static class Fixed extends scala.runtime.AbstractPartialFunction {
  private final java.time.Instant instant;

  public Fixed(java.time.Instant instant) {
    this.instant = instant;
  }

  public boolean isDefinedAt(Object node) {
    String name = node.getClass().getSimpleName();
    return name.equals("CurrentTimestamp") || name.equals("Now")
        || name.equals("CurrentBatchTimestamp") || name.equals("CurrentDate")
        || name.equals("LocalTimestamp") || name.equals("CurrentTime");
  }

  public Object applyOrElse(Object node, scala.Function1 otherwise) {
    if (!isDefinedAt(node)) {
      return otherwise.apply(node);
    }
    org.apache.spark.sql.catalyst.expressions.Expression found =
        (org.apache.spark.sql.catalyst.expressions.Expression) node;
    return new org.apache.spark.sql.catalyst.expressions.Literal(value(found), found.dataType());
  }

  private Object value(org.apache.spark.sql.catalyst.expressions.Expression found) {
    String name = found.getClass().getSimpleName();
    if (name.equals("CurrentDate")) {
      return Integer.valueOf((int) local(found).toLocalDate().toEpochDay());
    }
    if (name.equals("LocalTimestamp")) {
      return micros(local(found).toInstant(java.time.ZoneOffset.UTC));
    }
    if (name.equals("CurrentTime")) {
      return nanos(local(found).toLocalTime().toNanoOfDay(), found.dataType().sql());
    }
    return micros(instant);
  }

  private java.time.LocalDateTime local(Object found) {
    java.time.ZoneId zone =
        ((org.apache.spark.sql.catalyst.expressions.TimeZoneAwareExpression) found).zoneId();
    return java.time.LocalDateTime.ofInstant(instant, zone);
  }

  private static Long micros(java.time.Instant at) {
    return Long.valueOf(at.getEpochSecond() * 1000000L + at.getNano() / 1000);
  }

  // TIME(p) has p digits after the seconds; the rest is cut off.
  private static Long nanos(long ofDay, String type) {
    int digits = type.charAt(type.length() - 2) - '0';
    long step = 1L;
    for (int place = digits; place < 9; place++) {
      step = step * 10L;
    }
    return Long.valueOf(ofDay - ofDay % step);
  }
}
