//! Expressions of every kind, and where each is bound.

use super::names;
use super::scope::Clause;
use super::{Binder, type_name};
use crate::error::{Error, Result};
use crate::system::casts::CastContext;
use crate::system::{Oid, SqlType};
use crate::tree::{Cast, Conversion, Expr, Kind, TruthTest, ValueFunction};
use grammar::tree::{
    BoolExpr, BoolExprType, BoolTestType, BooleanTest, Node, NodeEnum, NullTest, NullTestType,
    SqlValueFunction, SqlValueFunctionOp, TypeCast, TypeName,
};

/// The most expressions within each other. Deeper ones are left to the planner that refuses them.
const DEPTH_MAX: usize = 1_000;

/// The SQLSTATE of conversions that do not exist.
const CANNOT_COERCE: &str = "42846";

impl Binder<'_> {
    /// An expression that may be absent.
    pub(super) fn optional(&mut self, node: Option<&Node>) -> Result<Option<Expr>> {
        node.map(|node| self.expression(names::node(Some(node))?)).transpose()
    }

    /// The expression of a field that the grammar always fills.
    pub(super) fn required(&mut self, node: Option<&Node>) -> Result<Expr> {
        self.expression(names::node(node)?)
    }

    pub(super) fn expressions(&mut self, nodes: &[Node]) -> Result<Vec<Expr>> {
        nodes.iter().map(|node| self.required(Some(node))).collect()
    }

    /// An expression in a clause.
    pub(super) fn in_clause<T>(
        &mut self,
        clause: Clause,
        bind: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let Some(scope) = self.scopes.last_mut() else { return bind(self) };
        let outer = std::mem::replace(&mut scope.clause, clause);
        let result = bind(self);
        if let Some(scope) = self.scopes.last_mut() {
            scope.clause = outer;
        }
        result
    }

    /// Binds an expression.
    pub(super) fn expression(&mut self, node: &NodeEnum) -> Result<Expr> {
        self.depth += 1;
        let bound = match self.depth {
            ..=DEPTH_MAX => grammar::growing(|| self.any_expression(node)),
            _ => Err(too_deep()),
        };
        self.depth -= 1;
        bound
    }

    fn any_expression(&mut self, node: &NodeEnum) -> Result<Expr> {
        match node {
            NodeEnum::ColumnRef(reference) => self.column_reference(reference),
            NodeEnum::AConst(constant) => super::constant::constant(constant),
            NodeEnum::ParamRef(parameter) => self.parameter(parameter),
            NodeEnum::TypeCast(cast) => self.type_cast(cast),
            NodeEnum::AExpr(expr) => self.operator_expression(expr),
            NodeEnum::BoolExpr(expr) => self.logical(expr),
            NodeEnum::FuncCall(call) => match self.assigned(call)? {
                Some(assigned) => Ok(assigned),
                None => self.function_call(call),
            },
            NodeEnum::JsonParseExpr(parse) if !parse.unique_keys => self.json_call(parse),
            NodeEnum::NullTest(test) => self.null_test(test),
            NodeEnum::BooleanTest(test) => self.boolean_test(test),
            NodeEnum::CaseExpr(case) => self.case(case),
            NodeEnum::CoalesceExpr(coalesce) => {
                let sets = self.sets_here();
                let all = self.expressions(&coalesce.args)?;
                self.refuse_sets("COALESCE", sets)?;
                let (all, sql_type) = self.at_common_type(all, "COALESCE")?;
                Ok(Expr::new(Kind::Coalesce(all), sql_type, coalesce.location))
            }
            NodeEnum::MinMaxExpr(extreme) => self.extreme(extreme),
            NodeEnum::AArrayExpr(array) => self.array(array, None),
            NodeEnum::RowExpr(row) => {
                let values = self.row_values(&row.args)?;
                Ok(Expr::new(Kind::Row(values), Oid::RECORD, row.location))
            }
            NodeEnum::AIndirection(indirection) => self.indirection(indirection),
            NodeEnum::SubLink(link) => self.sub_link(link),
            NodeEnum::SqlvalueFunction(function) => value_function(function),
            NodeEnum::GroupingFunc(function) => self.grouping(function),
            NodeEnum::CollateClause(collate) => {
                let names = names::parts(&collate.collname);
                match names.as_slice() {
                    [name] | ["pg_catalog", name]
                        if matches!(*name, "C" | "POSIX" | "default" | "ucs_basic") =>
                    {
                        let value = self.required(collate.arg.as_deref())?;
                        self.collated(value, collate.location)
                    }
                    names => {
                        let what = format!("the collation \"{}\"", names.join("."));
                        Err(Error::missing(what).at(collate.location))
                    }
                }
            }
            NodeEnum::SetToDefault(default) => {
                Err(Error::new("42601", "DEFAULT is not allowed in this context")
                    .at(default.location))
            }
            NodeEnum::NamedArgExpr(argument) => self.required(argument.arg.as_deref()),
            other => Err(Error::missing(kind_name(other))),
        }
    }

    fn collated(&mut self, value: Expr, location: i32) -> Result<Expr> {
        let oid = value.sql_type.oid;
        match oid.category() {
            'S' => Ok(value),
            _ if oid == Oid::UNKNOWN => self.coerce_implicitly(value, Oid::TEXT),
            _ => {
                let message = format!("collations are not supported by type {oid}");
                Err(Error::new("42804", message).at(location))
            }
        }
    }

    fn type_cast(&mut self, cast: &TypeCast) -> Result<Expr> {
        let name = cast.type_name.as_ref().ok_or_else(|| Error::missing("this form"))?;
        let to = self.type_of_name(name)?;
        // ARRAY[...]::int[] gives its items the type.
        let value = match names::node(cast.arg.as_deref())? {
            NodeEnum::AArrayExpr(array) if to.oid.element().is_some() => {
                self.array(array, Some(to.oid))?
            }
            other => self.expression(other)?,
        };
        let location = if cast.location >= 0 { cast.location } else { value.location.0 };
        self.explicit(value, to, location)
    }

    /// The type of a name in the statement.
    pub(super) fn type_of_name(&self, name: &TypeName) -> Result<SqlType> {
        let catalog = self.catalog;
        type_name::sql_type_in(name, &|schema, name| {
            catalog.user_type(schema, name).or_else(|| self.rows_of_view(schema, name))
        })
    }

    /// A cast that the statement writes.
    pub(super) fn explicit(&mut self, value: Expr, to: SqlType, location: i32) -> Result<Expr> {
        let from = value.sql_type.oid;
        if from == to.oid && to.modifier < 0 {
            // It forgets the modifier, as in `x::varchar` of a varchar(3).
            let mut value = value;
            if value.sql_type.modifier >= 0 {
                let cast = Cast {
                    value: Box::new(value),
                    conversion: Conversion::Relabel,
                    is_explicit: true,
                };
                return Ok(Expr::new(Kind::Cast(cast), to, location));
            }
            value.location.0 = location;
            return Ok(value);
        }
        let converted = self.coerce(value, to, CastContext::Explicit);
        let converted = converted.map_err(|error| match error.state {
            CANNOT_COERCE => Error { position: None, ..error }.at(location),
            _ => error,
        })?;
        let mut converted =
            converted.ok_or_else(|| super::coerce::cannot_cast(from, to.oid).at(location))?;
        if to.oid.is_composite() && !matches!(converted.kind, Kind::Literal(_)) {
            converted.location.0 = location;
        }
        Ok(converted)
    }

    fn logical(&mut self, expr: &BoolExpr) -> Result<Expr> {
        let kind = expr.boolop();
        let name = match kind {
            BoolExprType::AndExpr => "AND",
            BoolExprType::OrExpr => "OR",
            _ => "NOT",
        };
        let mut all = Vec::with_capacity(expr.args.len());
        for node in &expr.args {
            let one = self.required(Some(node))?;
            all.push(self.coerce_to_bool(one, name)?);
        }
        let kind = match kind {
            BoolExprType::AndExpr => Kind::And(all),
            BoolExprType::OrExpr => Kind::Or(all),
            _ => {
                let Some(one) = all.pop() else { return Err(Error::missing("this form")) };
                Kind::Not(Box::new(one))
            }
        };
        Ok(Expr::new(kind, Oid::BOOL, expr.location))
    }

    fn null_test(&mut self, test: &NullTest) -> Result<Expr> {
        let value = self.required(test.arg.as_deref())?;
        let is_null = test.nulltesttype() == NullTestType::IsNull;
        // A row is null if all its values are, and not null if none is.
        if let Kind::Row(values) = value.kind {
            let tests: Vec<Expr> = values
                .into_iter()
                .map(|value| {
                    let kind = if is_null {
                        Kind::IsNull(Box::new(value))
                    } else {
                        Kind::IsNotNull(Box::new(value))
                    };
                    Expr::new(kind, Oid::BOOL, test.location)
                })
                .collect();
            return Ok(all_of(tests, test.location));
        }
        let value = match value.sql_type.oid {
            Oid::UNKNOWN if matches!(value.kind, Kind::Literal(_)) => {
                self.coerce_implicitly(value, Oid::TEXT)?
            }
            _ => value,
        };
        let kind =
            if is_null { Kind::IsNull(Box::new(value)) } else { Kind::IsNotNull(Box::new(value)) };
        Ok(Expr::new(kind, Oid::BOOL, test.location))
    }

    fn boolean_test(&mut self, test: &BooleanTest) -> Result<Expr> {
        let (kind, name) = match test.booltesttype() {
            BoolTestType::IsTrue => (TruthTest::True, "IS TRUE"),
            BoolTestType::IsNotTrue => (TruthTest::NotTrue, "IS NOT TRUE"),
            BoolTestType::IsFalse => (TruthTest::False, "IS FALSE"),
            BoolTestType::IsNotFalse => (TruthTest::NotFalse, "IS NOT FALSE"),
            BoolTestType::IsUnknown => (TruthTest::Unknown, "IS UNKNOWN"),
            _ => (TruthTest::NotUnknown, "IS NOT UNKNOWN"),
        };
        let value = self.required(test.arg.as_deref())?;
        let value = self.coerce_to_bool(value, name)?;
        Ok(Expr::new(Kind::IsTruth(Box::new(value), kind), Oid::BOOL, test.location))
    }
}

/// The error for a statement that nests too deep.
pub(super) fn too_deep() -> Error {
    Error::new("54001", "stack depth limit exceeded")
}

/// The conjunction of conditions; true if there is none.
pub(super) fn all_of(mut conditions: Vec<Expr>, location: i32) -> Expr {
    use crate::tree::Literal;
    match conditions.len() {
        0 => Expr::new(Kind::Literal(Literal::Boolean(true)), Oid::BOOL, location),
        1 => conditions.remove(0),
        _ => Expr::new(Kind::And(conditions), Oid::BOOL, location),
    }
}

fn value_function(function: &SqlValueFunction) -> Result<Expr> {
    use SqlValueFunctionOp as Op;
    let (kind, oid) = match function.op() {
        Op::SvfopCurrentDate => (ValueFunction::Date, Oid::DATE),
        Op::SvfopCurrentTime | Op::SvfopCurrentTimeN => (ValueFunction::Time, Oid::TIMETZ),
        Op::SvfopCurrentTimestamp | Op::SvfopCurrentTimestampN => {
            (ValueFunction::Timestamp, Oid::TIMESTAMPTZ)
        }
        Op::SvfopLocaltime | Op::SvfopLocaltimeN => (ValueFunction::LocalTime, Oid::TIME),
        Op::SvfopLocaltimestamp | Op::SvfopLocaltimestampN => {
            (ValueFunction::LocalTimestamp, Oid::TIMESTAMP)
        }
        Op::SvfopCurrentRole | Op::SvfopCurrentUser | Op::SvfopUser => {
            (ValueFunction::User, Oid::NAME)
        }
        Op::SvfopSessionUser => (ValueFunction::SessionUser, Oid::NAME),
        Op::SvfopCurrentCatalog => (ValueFunction::Catalog, Oid::NAME),
        Op::SvfopCurrentSchema => (ValueFunction::Schema, Oid::NAME),
        Op::SqlvalueFunctionOpUndefined => return Err(Error::missing("this function")),
    };
    let value = Expr::new(Kind::ValueFunction(kind), oid, function.location);
    let has_precision = matches!(
        function.op(),
        Op::SvfopCurrentTimeN
            | Op::SvfopCurrentTimestampN
            | Op::SvfopLocaltimeN
            | Op::SvfopLocaltimestampN
    );
    if !has_precision {
        return Ok(value);
    }
    let sql_type = SqlType { oid, modifier: function.typmod.min(6) };
    let cast = Cast { value: Box::new(value), conversion: Conversion::Length, is_explicit: true };
    Ok(Expr::new(Kind::Cast(cast), sql_type, function.location))
}

/// How messages call an expression that the analysis does not know.
fn kind_name(node: &NodeEnum) -> &'static str {
    match node {
        NodeEnum::XmlExpr(_) | NodeEnum::XmlSerialize(_) => "XML",
        NodeEnum::CurrentOfExpr(_) => "CURRENT OF",
        NodeEnum::JsonObjectConstructor(_)
        | NodeEnum::JsonArrayConstructor(_)
        | NodeEnum::JsonArrayQueryConstructor(_)
        | NodeEnum::JsonObjectAgg(_)
        | NodeEnum::JsonArrayAgg(_)
        | NodeEnum::JsonParseExpr(_)
        | NodeEnum::JsonScalarExpr(_)
        | NodeEnum::JsonSerializeExpr(_)
        | NodeEnum::JsonFuncExpr(_)
        | NodeEnum::JsonIsPredicate(_) => "this function of SQL/JSON",
        _ => "this expression",
    }
}
