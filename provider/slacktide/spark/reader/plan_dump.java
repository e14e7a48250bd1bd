// The body of a class that Spark's own code generator compiles (Janino: no lambdas, no generics).
// It writes Catalyst trees as JSON, so that a plan crosses py4j in one call. Nothing is decided
// here: every field of every node is written, and what has no form is written as {"?": class}.

private final StringBuilder out = new StringBuilder();

public synchronized java.lang.Object generate(Object[] references) {
  out.setLength(0);
  String what = (String) references[0];
  if (what.equals("facts")) {
    facts((org.apache.spark.sql.catalyst.trees.TreeNode) references[1]);
  } else if (what.equals("functions")) {
    functions((org.apache.spark.sql.catalyst.analysis.FunctionRegistry) references[1]);
  } else {
    value(references[1]);
  }
  return out.toString();
}

// ------------------------------------------------------------------ a tree, field by field

private void value(Object v) {
  if (v instanceof scala.Option) {
    value(((scala.Option) v).isEmpty() ? null : ((scala.Option) v).get());
  } else if (v == null || v instanceof Boolean || v instanceof Integer || v instanceof Long
      || v instanceof Short || v instanceof Byte) {
    out.append(v);
  } else if (v instanceof Double || v instanceof Float) {
    text(v.toString());
  } else if (v instanceof String || v instanceof Character || v instanceof org.apache.spark.unsafe.types.UTF8String) {
    text(v.toString());
  } else if (v instanceof org.apache.spark.sql.catalyst.expressions.ExprId) {
    out.append(((org.apache.spark.sql.catalyst.expressions.ExprId) v).id());
  } else if (v instanceof org.apache.spark.sql.types.DataType) {
    type((org.apache.spark.sql.types.DataType) v);
  } else if (v instanceof org.apache.spark.sql.catalyst.expressions.Expression) {
    expression((org.apache.spark.sql.catalyst.expressions.Expression) v);
  } else if (v instanceof org.apache.spark.sql.catalyst.plans.logical.LogicalPlan) {
    plan((org.apache.spark.sql.catalyst.plans.logical.LogicalPlan) v);
  } else if (v instanceof scala.collection.Map) {
    out.append("{\"?\":\"Map\"}");
  } else if (v instanceof scala.collection.Iterable) {
    list((scala.collection.Iterable) v);
  } else {
    object(v);
  }
}

private void object(Object v) {
  String name = simple(v);
  if (v instanceof org.apache.spark.rdd.RDD) {
    out.append("{\"rdd\":").append(((org.apache.spark.rdd.RDD) v).id()).append("}");
  } else if (v instanceof Class) {
    out.append("{\"class\":");
    text(((Class) v).getName());
    out.append("}");
  } else if (v.getClass().getName().endsWith("$")) {
    text(v.getClass().getName().startsWith("org.apache.spark.sql.catalyst") ? name : v.getClass().getName());
  } else if (v instanceof scala.Enumeration.Value) {
    text(v.toString());
  } else if (v instanceof scala.Product && written(v)) {
    out.append("{\"k\":");
    text(name);
    fields((scala.Product) v);
    out.append("}");
  } else {
    out.append("{\"?\":");
    text(name);
    out.append("}");
  }
}

private boolean written(Object v) {
  String name = v.getClass().getName();
  return name.startsWith("scala.Tuple")
      || name.equals("org.apache.spark.sql.types.StructField")
      || name.startsWith("org.apache.spark.sql.catalyst.plans.")
      || name.startsWith("org.apache.spark.sql.catalyst.expressions.");
}

private void list(scala.collection.Iterable items) {
  out.append("[");
  scala.collection.Iterator it = items.iterator();
  boolean more = false;
  while (it.hasNext()) {
    if (more) out.append(",");
    more = true;
    value(it.next());
  }
  out.append("]");
}

private void fields(scala.Product p) {
  out.append(",\"f\":{");
  for (int i = 0; i < p.productArity(); i++) {
    if (i > 0) out.append(",");
    text(p.productElementName(i));
    out.append(":");
    value(p.productElement(i));
  }
  out.append("}");
}

private void expression(org.apache.spark.sql.catalyst.expressions.Expression e) {
  out.append("{\"e\":");
  text(simple(e));
  if (e.resolved()) {
    typed(e);
  }
  if (e instanceof org.apache.spark.sql.catalyst.expressions.Literal) {
    out.append(",\"v\":");
    constant(((org.apache.spark.sql.catalyst.expressions.Literal) e).value(), e.dataType());
  } else if (e instanceof org.apache.spark.sql.catalyst.expressions.Attribute) {
    named((org.apache.spark.sql.catalyst.expressions.NamedExpression) e);
  } else if (e instanceof org.apache.spark.sql.catalyst.expressions.And
      || e instanceof org.apache.spark.sql.catalyst.expressions.Or) {
    out.append(",\"f\":{\"operands\":[");
    chain(e, e.getClass());
    out.append("]}");
  } else {
    if (e instanceof org.apache.spark.sql.catalyst.expressions.Alias
        || e instanceof org.apache.spark.sql.catalyst.expressions.NamedLambdaVariable) {
      named((org.apache.spark.sql.catalyst.expressions.NamedExpression) e);
    }
    fields((scala.Product) e);
  }
  if (e instanceof org.apache.spark.sql.catalyst.expressions.aggregate.PivotFirst) {
    pivoted((org.apache.spark.sql.catalyst.expressions.aggregate.PivotFirst) e);
  }
  out.append("}");
}

private void pivoted(org.apache.spark.sql.catalyst.expressions.aggregate.PivotFirst p) {
  out.append(",\"constants\":[");
  scala.collection.Iterator it = p.pivotColumnValues().iterator();
  while (it.hasNext()) {
    typedConstant(it.next(), p.pivotColumn().dataType());
    if (it.hasNext()) out.append(",");
  }
  out.append("]");
}

// A chain of AND or OR becomes one list: trees of a hundred levels are common, lists are flat.
private void chain(org.apache.spark.sql.catalyst.expressions.Expression root, Class kind) {
  java.util.ArrayDeque pending = new java.util.ArrayDeque();
  pending.push(root);
  boolean more = false;
  while (!pending.isEmpty()) {
    org.apache.spark.sql.catalyst.expressions.Expression e =
        (org.apache.spark.sql.catalyst.expressions.Expression) pending.pop();
    if (e.getClass() == kind) {
      org.apache.spark.sql.catalyst.expressions.BinaryOperator b =
          (org.apache.spark.sql.catalyst.expressions.BinaryOperator) e;
      pending.push(b.right());
      pending.push(b.left());
    } else {
      if (more) out.append(",");
      more = true;
      value(e);
    }
  }
}

private void typed(org.apache.spark.sql.catalyst.expressions.Expression e) {
  try {
    String name = e.dataType().sql();
    boolean nullable = e.nullable();
    out.append(",\"t\":");
    text(name);
    out.append(",\"n\":").append(nullable);
  } catch (Exception unevaluable) {
    // Sort orders, frames and their like have no type; the reader does not ask for one.
  }
}

private void named(org.apache.spark.sql.catalyst.expressions.NamedExpression e) {
  out.append(",\"name\":");
  text(e.name());
  if (((org.apache.spark.sql.catalyst.expressions.Expression) e).resolved()) {
    out.append(",\"id\":").append(e.exprId().id());
  }
}

private void plan(org.apache.spark.sql.catalyst.plans.logical.LogicalPlan p) {
  out.append("{\"p\":");
  text(simple(p));
  if (p.resolved()) {
    out.append(",\"o\":");
    list(p.output());
  }
  if (p instanceof org.apache.spark.sql.catalyst.plans.logical.LocalRelation) {
    rows((org.apache.spark.sql.catalyst.plans.logical.LocalRelation) p);
  } else if (p instanceof org.apache.spark.sql.catalyst.plans.logical.Range) {
    range((org.apache.spark.sql.catalyst.plans.logical.Range) p);
  } else {
    fields((scala.Product) p);
  }
  out.append("}");
}

private void range(org.apache.spark.sql.catalyst.plans.logical.Range r) {
  out.append(",\"f\":{\"start\":").append(r.start()).append(",\"end\":").append(r.end());
  out.append(",\"step\":").append(r.step()).append("}");
}

private void rows(org.apache.spark.sql.catalyst.plans.logical.LocalRelation r) {
  out.append(",\"rows\":[");
  org.apache.spark.sql.types.StructType schema = r.schema();
  scala.collection.Iterator it = r.data().iterator();
  boolean more = false;
  while (it.hasNext()) {
    if (more) out.append(",");
    more = true;
    row((org.apache.spark.sql.catalyst.InternalRow) it.next(), schema);
  }
  out.append("]");
}

// ------------------------------------------------------------------ types and constants

private void type(org.apache.spark.sql.types.DataType t) {
  out.append("{\"d\":");
  text(t.sql());
  out.append("}");
}

private void row(org.apache.spark.sql.catalyst.InternalRow row, org.apache.spark.sql.types.StructType t) {
  out.append("[");
  org.apache.spark.sql.types.StructField[] f = t.fields();
  for (int i = 0; i < f.length; i++) {
    if (i > 0) out.append(",");
    typedConstant(row.isNullAt(i) ? null : row.get(i, f[i].dataType()), f[i].dataType());
  }
  out.append("]");
}

private void array(org.apache.spark.sql.catalyst.util.ArrayData a, org.apache.spark.sql.types.DataType t) {
  out.append("[");
  for (int i = 0; i < a.numElements(); i++) {
    if (i > 0) out.append(",");
    typedConstant(a.isNullAt(i) ? null : a.get(i, t), t);
  }
  out.append("]");
}

private void typedConstant(Object v, org.apache.spark.sql.types.DataType t) {
  out.append("{\"t\":");
  text(t.sql());
  out.append(",\"v\":");
  constant(v, t);
  out.append("}");
}

private void constant(Object v, org.apache.spark.sql.types.DataType t) {
  if (v == null || v instanceof Boolean || v instanceof Integer || v instanceof Long
      || v instanceof Short || v instanceof Byte) {
    out.append(v);
  } else if (v instanceof org.apache.spark.unsafe.types.UTF8String) {
    utf8((org.apache.spark.unsafe.types.UTF8String) v);
  } else if (v instanceof Double || v instanceof Float) {
    text(v.toString());
  } else if (v instanceof org.apache.spark.sql.types.Decimal) {
    text(((org.apache.spark.sql.types.Decimal) v).toJavaBigDecimal().toPlainString());
  } else if (v instanceof byte[]) {
    hex((byte[]) v);
  } else if (v instanceof org.apache.spark.sql.catalyst.util.ArrayData
      && t instanceof org.apache.spark.sql.types.ArrayType) {
    array((org.apache.spark.sql.catalyst.util.ArrayData) v,
        ((org.apache.spark.sql.types.ArrayType) t).elementType());
  } else if (v instanceof org.apache.spark.sql.catalyst.util.MapData) {
    map((org.apache.spark.sql.catalyst.util.MapData) v, (org.apache.spark.sql.types.MapType) t);
  } else if (v instanceof org.apache.spark.sql.catalyst.InternalRow
      && t instanceof org.apache.spark.sql.types.StructType) {
    row((org.apache.spark.sql.catalyst.InternalRow) v, (org.apache.spark.sql.types.StructType) t);
  } else {
    out.append("{\"?\":");
    text(simple(v));
    out.append("}");
  }
}

private void map(org.apache.spark.sql.catalyst.util.MapData m, org.apache.spark.sql.types.MapType t) {
  out.append("[");
  array(m.keyArray(), t.keyType());
  out.append(",");
  array(m.valueArray(), t.valueType());
  out.append("]");
}

private void utf8(org.apache.spark.unsafe.types.UTF8String s) {
  if (s.isValid()) {
    text(s.toString());
  } else {
    out.append("{\"?\":\"invalid UTF-8\"}");
  }
}

private void hex(byte[] bytes) {
  out.append("\"");
  for (int i = 0; i < bytes.length; i++) {
    out.append(Character.forDigit((bytes[i] >> 4) & 15, 16));
    out.append(Character.forDigit(bytes[i] & 15, 16));
  }
  out.append("\"");
}

// ------------------------------------------------------------------ what occurs in a plan

private final java.util.TreeSet classes = new java.util.TreeSet();
private final java.util.TreeSet random = new java.util.TreeSet();
private final java.util.TreeSet special = new java.util.TreeSet();
private final java.util.TreeSet rdds = new java.util.TreeSet();
private final java.util.TreeSet leaves = new java.util.TreeSet();
private final java.util.TreeSet names = new java.util.TreeSet();
private final java.util.TreeSet commands = new java.util.TreeSet();

private void facts(org.apache.spark.sql.catalyst.trees.TreeNode root) {
  java.util.TreeSet[] found = {classes, random, special, rdds, leaves, names, commands};
  for (int i = 0; i < found.length; i++) found[i].clear();
  walk(root);
  out.append("{");
  set("classes", classes);
  out.append(",");
  set("random", random);
  out.append(",");
  set("special", special);
  out.append(",");
  set("rdds", rdds);
  out.append(",");
  set("leaves", leaves);
  out.append(",");
  set("names", names);
  out.append(",");
  set("commands", commands);
  if (root instanceof org.apache.spark.sql.catalyst.plans.logical.LogicalPlan) {
    org.apache.spark.sql.catalyst.plans.logical.LogicalPlan p =
        (org.apache.spark.sql.catalyst.plans.logical.LogicalPlan) root;
    if (p.resolved()) {
      out.append(",\"output\":");
      list(p.output());
    }
  }
  out.append("}");
}

private void set(String name, java.util.TreeSet items) {
  text(name);
  out.append(":[");
  java.util.Iterator it = items.iterator();
  while (it.hasNext()) {
    Object item = it.next();
    if (item instanceof String) text((String) item); else out.append(item);
    if (it.hasNext()) out.append(",");
  }
  out.append("]");
}

private void walk(Object v) {
  if (v instanceof scala.Option) {
    if (!((scala.Option) v).isEmpty()) walk(((scala.Option) v).get());
  } else if (v instanceof org.apache.spark.sql.catalyst.trees.TreeNode) {
    classes.add(simple(v));
    if (v instanceof org.apache.spark.sql.catalyst.expressions.Expression) {
      note((org.apache.spark.sql.catalyst.expressions.Expression) v);
    }
    if (v instanceof org.apache.spark.sql.catalyst.plans.logical.LogicalPlan) {
      note((org.apache.spark.sql.catalyst.plans.logical.LogicalPlan) v);
    }
    walkProduct((scala.Product) v);
  } else if (v instanceof scala.collection.Iterable) {
    scala.collection.Iterator it = ((scala.collection.Iterable) v).iterator();
    while (it.hasNext()) walk(it.next());
  } else if (v instanceof scala.Product && written(v)) {
    walkProduct((scala.Product) v);
  }
}

private void walkProduct(scala.Product p) {
  for (int i = 0; i < p.productArity(); i++) walk(p.productElement(i));
}

private void note(org.apache.spark.sql.catalyst.plans.logical.LogicalPlan p) {
  String name = simple(p);
  if (p instanceof org.apache.spark.sql.catalyst.plans.logical.Command
      || p instanceof org.apache.spark.sql.catalyst.plans.logical.ParsedStatement
      || name.indexOf("ExecuteImmediate") >= 0) {
    commands.add(name);
  }
  if (p instanceof org.apache.spark.sql.catalyst.analysis.UnresolvedRelation) {
    names.add(((org.apache.spark.sql.catalyst.analysis.UnresolvedRelation) p).multipartIdentifier()
        .mkString("\u0000"));
  } else if (p instanceof org.apache.spark.sql.execution.LogicalRDD) {
    rdds.add(new Integer(((org.apache.spark.sql.execution.LogicalRDD) p).rdd().id()));
  } else if (p.children().isEmpty()) {
    leaves.add(name);
  }
}

private void note(org.apache.spark.sql.catalyst.expressions.Expression e) {
  if (e.resolved()) noteMoment(e);
  if (e.resolved() && !e.deterministic()
      && (!(e instanceof org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction)
          || e instanceof org.apache.spark.sql.catalyst.expressions.PythonUDAF)) {
    scala.collection.Iterator it = e.children().iterator();
    boolean inherited = false;
    while (it.hasNext()) {
      if (!((org.apache.spark.sql.catalyst.expressions.Expression) it.next()).deterministic()) {
        inherited = true;
      }
    }
    if (!inherited) random.add(simple(e));
  }
}

/** Texts that are known before any row is read, with the type that they are cast to: 'now' is a moment. */
private void noteMoment(org.apache.spark.sql.catalyst.expressions.Expression e) {
  if (e instanceof org.apache.spark.sql.catalyst.expressions.RuntimeReplaceable) {
    noteMoment(((org.apache.spark.sql.catalyst.expressions.RuntimeReplaceable) e).replacement());
  } else if (e instanceof org.apache.spark.sql.catalyst.expressions.Cast) {
    org.apache.spark.sql.catalyst.expressions.Expression child =
        ((org.apache.spark.sql.catalyst.expressions.Cast) e).child();
    // What stands for another expression says of itself that it is not foldable, and is replaced first.
    while (child instanceof org.apache.spark.sql.catalyst.expressions.RuntimeReplaceable) {
      child = ((org.apache.spark.sql.catalyst.expressions.RuntimeReplaceable) child).replacement();
    }
    if (child.foldable() && child.dataType() instanceof org.apache.spark.sql.types.StringType) {
      special.add(e.dataType().sql() + " " + constant(child));
    }
  }
}

/** The value of an expression over no rows; what only the optimiser makes ready is left to it. */
private String constant(org.apache.spark.sql.catalyst.expressions.Expression e) {
  try {
    return String.valueOf(e.eval(null));
  } catch (Exception failure) {
    return "";
  }
}

// ------------------------------------------------------------------ the registry of functions

private void functions(org.apache.spark.sql.catalyst.analysis.FunctionRegistry registry) {
  out.append("[");
  scala.collection.Iterator it = registry.listFunction().iterator();
  boolean more = false;
  while (it.hasNext()) {
    org.apache.spark.sql.catalyst.FunctionIdentifier id =
        (org.apache.spark.sql.catalyst.FunctionIdentifier) it.next();
    scala.Option info = registry.lookupFunction(id);
    if (!info.isEmpty()) {
      if (more) out.append(",");
      more = true;
      out.append("[");
      text(id.funcName());
      out.append(",");
      text(((org.apache.spark.sql.catalyst.expressions.ExpressionInfo) info.get()).getClassName());
      out.append("]");
    }
  }
  out.append("]");
}

// ------------------------------------------------------------------ text

private String simple(Object v) {
  String name = v.getClass().getName();
  if (name.endsWith("$")) name = name.substring(0, name.length() - 1);
  int cut = Math.max(name.lastIndexOf('.'), name.lastIndexOf('$'));
  return name.substring(cut + 1);
}

private void text(String s) {
  out.append("\"");
  for (int i = 0; i < s.length(); i++) {
    char c = s.charAt(i);
    if (c == '"' || c == '\\') {
      out.append('\\').append(c);
    } else if (c < 32 || c > 126) {
      String h = Integer.toHexString(c);
      out.append("\\u");
      for (int k = h.length(); k < 4; k++) out.append('0');
      out.append(h);
    } else {
      out.append(c);
    }
  }
  out.append("\"");
}
