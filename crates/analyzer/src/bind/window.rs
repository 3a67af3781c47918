//! Window functions and windows.

use super::aggregate::no_star;
use super::scope::Clause;
use super::{Binder, names};
use crate::error::{Error, Result};
use crate::resolve::can_coerce;
use crate::system::casts::CastContext;
use crate::system::functions::{AggregateKind, FunctionKind};
use crate::system::{Oid, SqlType};
use crate::tree::{
    Expr, FrameBound, FrameExclusion, FrameUnits, Kind, SortKey, UserAggregate, WindowCall,
    WindowFrame,
};
use grammar::tree::{FuncCall, Node, WindowDef};

/// Bits of a window's frame options (`FRAMEOPTION_...`).
mod bits {
    pub(super) const NON_DEFAULT: i32 = 0x1;
    pub(super) const RANGE: i32 = 0x2;
    pub(super) const ROWS: i32 = 0x4;
    pub(super) const GROUPS: i32 = 0x8;
    pub(super) const START_UNBOUNDED_PRECEDING: i32 = 0x20;
    pub(super) const END_UNBOUNDED_FOLLOWING: i32 = 0x100;
    pub(super) const START_CURRENT: i32 = 0x200;
    pub(super) const END_CURRENT: i32 = 0x400;
    pub(super) const START_PRECEDING: i32 = 0x800;
    pub(super) const END_PRECEDING: i32 = 0x1000;
    pub(super) const START_FOLLOWING: i32 = 0x2000;
    pub(super) const END_FOLLOWING: i32 = 0x4000;
    pub(super) const EXCLUDE_CURRENT: i32 = 0x8000;
    pub(super) const EXCLUDE_GROUP: i32 = 0x1_0000;
    pub(super) const EXCLUDE_TIES: i32 = 0x2_0000;
}

/// The parts of a window that definitions inherit.
struct Window {
    partition_by: Vec<Expr>,
    order_by: Vec<SortKey>,
    frame: WindowFrame,
}

impl Binder<'_> {
    pub(super) fn window_call(&mut self, name: &str, call: &FuncCall) -> Result<Expr> {
        let location = call.location;
        let Some(definition) = call.over.as_deref() else {
            return Err(Error::missing("this call"));
        };
        self.allow_window(name, call)?;
        let resolved = self.in_clause(Clause::Window, |binder| binder.resolve(name, call))?;
        let function = resolved.function;
        if function.aggregate != AggregateKind::Normal && function.kind == FunctionKind::Aggregate {
            return Err(Error::new(
                "0A000",
                format!("OVER is not supported for ordered-set aggregate {name}"),
            )
            .at(location));
        }
        if !matches!(function.kind, FunctionKind::Aggregate | FunctionKind::Window) {
            let message = format!(
                "OVER specified, but {name} is not a window function nor an aggregate function"
            );
            return Err(Error::new("42809", message).at(location));
        }
        let is_aggregate = function.kind == FunctionKind::Aggregate;
        if is_aggregate && call.args.is_empty() && !call.agg_star {
            return Err(no_star(name).at(location));
        }
        let filter = match &call.agg_filter {
            Some(_) if function.kind == FunctionKind::Window => {
                let message = "FILTER is not implemented for non-aggregate window functions";
                return Err(Error::new("0A000", message).at(location));
            }
            node => self.window_filter(node.as_deref())?,
        };
        let window = self.in_clause(Clause::Window, |binder| binder.window_of(definition))?;
        let call = WindowCall {
            function: function.oid,
            arguments: resolved.call.arguments,
            filter,
            partition_by: window.partition_by,
            order_by: window.order_by,
            frame: window.frame,
            sql_type: resolved.sql_type,
            user: None,
        };
        self.placed_window(call, location)
    }

    /// An aggregate of a user over a window.
    pub(super) fn user_window(
        &mut self,
        called: (Vec<Expr>, SqlType, UserAggregate),
        call: &FuncCall,
        definition: &WindowDef,
    ) -> Result<Expr> {
        let (arguments, sql_type, user) = called;
        let (_, name) = names::qualified(&call.funcname);
        self.allow_window(name, call)?;
        let filter = self.window_filter(call.agg_filter.as_deref())?;
        let window = self.in_clause(Clause::Window, |binder| binder.window_of(definition))?;
        let placed = WindowCall {
            function: Oid(0),
            arguments,
            filter,
            partition_by: window.partition_by,
            order_by: window.order_by,
            frame: window.frame,
            sql_type,
            user: Some(Box::new(user)),
        };
        self.placed_window(placed, call.location)
    }

    /// FILTER of a window function.
    fn window_filter(&mut self, node: Option<&Node>) -> Result<Option<Expr>> {
        let Some(node) = node else { return Ok(None) };
        let filter = self.in_clause(Clause::Filter, |binder| binder.required(Some(node)))?;
        self.coerce_to_bool(filter, "FILTER").map(Some)
    }

    /// The value of a window function of this query level.
    fn placed_window(&mut self, call: WindowCall, location: i32) -> Result<Expr> {
        let Some(scope) = self.scopes.last_mut() else { return Err(Error::missing("this call")) };
        let sql_type = call.sql_type;
        let place = match scope.windows.iter().position(|known| *known == call) {
            Some(place) => place,
            None => {
                scope.windows.push(call);
                scope.windows.len() - 1
            }
        };
        Ok(Expr::new(Kind::Window(scope.select, place), sql_type, location))
    }

    /// Refuses a window function where it cannot stand, and clauses that it cannot have.
    fn allow_window(&self, name: &str, call: &FuncCall) -> Result<()> {
        let location = call.location;
        let clause = self.scopes.last().map(|scope| scope.clause);
        match clause {
            Some(Clause::Targets | Clause::OrderBy | Clause::DistinctOn) => {}
            Some(Clause::Window) => {
                return Err(Error::new(
                    "42P20",
                    "window functions are not allowed in window definitions",
                )
                .at(location));
            }
            Some(Clause::AggregateArgument) => {
                let message = "aggregate function calls cannot contain window function calls";
                return Err(Error::new("42803", message).at(location));
            }
            other => {
                let place = other.map_or("this place", Clause::name);
                let message = format!("window functions are not allowed in {place}");
                return Err(Error::new("42P20", message).at(location));
            }
        }
        if call.agg_within_group {
            return Err(Error::new(
                "0A000",
                format!("OVER is not supported for ordered-set aggregate {name}"),
            )
            .at(location));
        }
        if call.agg_distinct {
            return Err(Error::new("0A000", "DISTINCT is not implemented for window functions")
                .at(location));
        }
        if !call.agg_order.is_empty() {
            return Err(Error::new(
                "0A000",
                "aggregate ORDER BY is not implemented for window functions",
            )
            .at(location));
        }
        Ok(())
    }

    /// The windows of WINDOW, whether something uses them or not.
    pub(super) fn check_windows(&mut self) -> Result<()> {
        let definitions = self.scopes.last().map(|scope| scope.window_definitions.clone());
        for (place, definition) in definitions.unwrap_or_default().iter().enumerate() {
            self.in_clause(Clause::Window, |binder| binder.window_definition(definition, place))?;
        }
        Ok(())
    }

    /// The window of OVER: a name, or a definition that may be based on a named one.
    fn window_of(&mut self, definition: &WindowDef) -> Result<Window> {
        if !definition.name.is_empty() {
            let (named, place) =
                self.named_window(&definition.name, usize::MAX, definition.location)?;
            return self.window_definition(&named, place);
        }
        self.window_definition(definition, usize::MAX)
    }

    /// The window of a name among the first definitions, and its place.
    fn named_window(&self, name: &str, before: usize, location: i32) -> Result<(WindowDef, usize)> {
        let definitions = self.scopes.last().map(|scope| scope.window_definitions.as_slice());
        let definitions = definitions.unwrap_or_default().iter().take(before).enumerate();
        let found = definitions.into_iter().find(|(_, definition)| definition.name == name);
        found.map(|(place, definition)| (definition.clone(), place)).ok_or_else(|| {
            Error::new("42704", format!("window \"{name}\" does not exist")).at(location)
        })
    }

    /// A definition, which may be based on those before a place.
    fn window_definition(&mut self, definition: &WindowDef, before: usize) -> Result<Window> {
        grammar::growing(|| self.any_window_definition(definition, before))
    }

    fn any_window_definition(&mut self, definition: &WindowDef, before: usize) -> Result<Window> {
        let location = definition.location;
        let base = match definition.refname.as_str() {
            "" => None,
            name => {
                let (named, place) = self.named_window(name, before, location)?;
                if named.frame_options & bits::NON_DEFAULT != 0 {
                    let message =
                        format!("cannot copy window \"{name}\" because it has a frame clause");
                    return Err(Error::new("42P20", message).at(location));
                }
                Some(self.window_definition(&named, place)?)
            }
        };
        let partition_by = self.window_keys(&definition.partition_clause)?;
        let order_by = self.window_order(&definition.order_clause)?;
        let (partition_by, order_by) = match base {
            None => (partition_by, order_by),
            Some(base) => {
                let name = &definition.refname;
                if !partition_by.is_empty() {
                    let message =
                        format!("cannot override PARTITION BY clause of window \"{name}\"");
                    return Err(Error::new("42P20", message).at(location));
                }
                if !order_by.is_empty() && !base.order_by.is_empty() {
                    let message = format!("cannot override ORDER BY clause of window \"{name}\"");
                    return Err(Error::new("42P20", message).at(location));
                }
                let order_by = if order_by.is_empty() { base.order_by } else { order_by };
                (base.partition_by, order_by)
            }
        };
        let frame = self.frame(definition, &order_by)?;
        Ok(Window { partition_by, order_by, frame })
    }

    /// PARTITION BY: expressions; a number is a constant.
    fn window_keys(&mut self, nodes: &[Node]) -> Result<Vec<Expr>> {
        let mut keys = Vec::new();
        for expr in self.expressions(nodes)? {
            keys.push(match expr.sql_type.oid {
                Oid::UNKNOWN => self.coerce_implicitly(expr, Oid::TEXT)?,
                _ => expr,
            });
        }
        Ok(keys)
    }

    fn window_order(&mut self, nodes: &[Node]) -> Result<Vec<SortKey>> {
        self.sort_keys_of_expressions(nodes)
    }

    fn frame(&mut self, definition: &WindowDef, order_by: &[SortKey]) -> Result<WindowFrame> {
        let options = definition.frame_options;
        let has = |bit: i32| options & bit != 0;
        let location = definition.location;
        let units = if has(bits::ROWS) {
            FrameUnits::Rows
        } else if has(bits::GROUPS) {
            FrameUnits::Groups
        } else {
            FrameUnits::Range
        };
        if units == FrameUnits::Groups && order_by.is_empty() {
            return Err(Error::new("42P20", "GROUPS mode requires an ORDER BY clause").at(location));
        }
        let offsets = has(bits::START_PRECEDING
            | bits::START_FOLLOWING
            | bits::END_PRECEDING
            | bits::END_FOLLOWING);
        if units == FrameUnits::Range && offsets && has(bits::RANGE) && order_by.len() != 1 {
            let message =
                "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column";
            return Err(Error::new("42P20", message).at(location));
        }
        let start = if has(bits::START_UNBOUNDED_PRECEDING)
            || !has(bits::START_CURRENT | bits::START_PRECEDING | bits::START_FOLLOWING)
        {
            FrameBound::UnboundedPreceding
        } else if has(bits::START_CURRENT) {
            FrameBound::CurrentRow
        } else {
            let offset = self.frame_offset(definition.start_offset.as_deref(), units, order_by)?;
            if has(bits::START_PRECEDING) {
                FrameBound::Preceding(offset)
            } else {
                FrameBound::Following(offset)
            }
        };
        let end = if has(bits::END_UNBOUNDED_FOLLOWING) {
            FrameBound::UnboundedFollowing
        } else if has(bits::END_CURRENT) || !has(bits::END_PRECEDING | bits::END_FOLLOWING) {
            FrameBound::CurrentRow
        } else {
            let offset = self.frame_offset(definition.end_offset.as_deref(), units, order_by)?;
            if has(bits::END_PRECEDING) {
                FrameBound::Preceding(offset)
            } else {
                FrameBound::Following(offset)
            }
        };
        let exclusion = if has(bits::EXCLUDE_CURRENT) {
            FrameExclusion::CurrentRow
        } else if has(bits::EXCLUDE_GROUP) {
            FrameExclusion::Group
        } else if has(bits::EXCLUDE_TIES) {
            FrameExclusion::Ties
        } else {
            FrameExclusion::NoOthers
        };
        Ok(WindowFrame { units, start, end, exclusion })
    }

    fn frame_offset(
        &mut self,
        node: Option<&Node>,
        units: FrameUnits,
        order_by: &[SortKey],
    ) -> Result<Box<Expr>> {
        let offset = self.required(node)?;
        let location = offset.location.0;
        let own = self.scopes.len().saturating_sub(1);
        if self.deepest(&offset) == Some(own) {
            let name = match units {
                FrameUnits::Rows => "ROWS",
                FrameUnits::Range => "RANGE",
                FrameUnits::Groups => "GROUPS",
            };
            let message = format!("argument of {name} must not contain variables");
            return Err(Error::new("42P10", message).at(location));
        }
        let from = offset.sql_type.oid;
        let wanted = match (units, order_by.first().map(|key| key.expr.sql_type.oid)) {
            (FrameUnits::Range, Some(key)) => {
                range_offset(key, from).map_err(|error| error.at(location))?
            }
            _ => Oid::INT8,
        };
        let converted = self.coerce(offset, SqlType::plain(wanted), CastContext::Assignment)?;
        let converted = converted.ok_or_else(|| {
            let of = if units == FrameUnits::Groups { "GROUPS" } else { "ROWS" };
            let message = format!("argument of {of} must be type bigint, not type {from}");
            Error::new("42804", message).at(location)
        })?;
        Ok(Box::new(converted))
    }
}

/// The type in which an offset of RANGE is taken: one that a difference of two keys may have.
fn range_offset(key: Oid, offset: Oid) -> Result<Oid> {
    const BY: &str = "RANGE with offset PRECEDING/FOLLOWING";
    let types: &[Oid] = match key {
        Oid::INT2 | Oid::INT4 => &[Oid::INT8, Oid::INT2, Oid::INT4],
        Oid::INT8 => &[Oid::INT8],
        Oid::FLOAT4 | Oid::FLOAT8 => &[Oid::FLOAT8],
        Oid::NUMERIC => &[Oid::NUMERIC],
        Oid::DATE | Oid::TIME | Oid::TIMESTAMP | Oid::TIMESTAMPTZ | Oid::INTERVAL | Oid::TIMETZ => {
            &[Oid::INTERVAL]
        }
        _ => {
            let message = format!("{BY} is not supported for column type {key}");
            return Err(Error::new("0A000", message));
        }
    };
    // An offset that may be of any type is of the key's.
    let preferred = if offset == Oid::UNKNOWN { key } else { offset };
    let fits = |to: &&Oid| can_coerce(offset, **to, CastContext::Implicit);
    let fitting: Vec<Oid> = types.iter().filter(fits).copied().collect();
    match fitting[..] {
        [] => {
            let message =
                format!("{BY} is not supported for column type {key} and offset type {offset}");
            let hint = "Cast the offset value to an appropriate type.";
            Err(Error::new("0A000", message).hint(hint))
        }
        [only] => Ok(only),
        _ if fitting.contains(&preferred) => Ok(preferred),
        _ => {
            let message = format!(
                "{BY} has multiple interpretations for column type {key} and offset type {offset}"
            );
            let hint = "Cast the offset value to the exact intended type.";
            Err(Error::new("0A000", message).hint(hint))
        }
    }
}
