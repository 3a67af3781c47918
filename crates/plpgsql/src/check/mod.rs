//! What is wrong with a source, of which PostgreSQL says so when the function is made.
//!
//! Not here: types, relations and the syntax of SQL, which a [`Lookup`] knows. What statements mean is found when they run.

mod scopes;
mod texts;

use crate::tree::{
    Argument, Block, BoundCursor, Declared, Into, Kind, Opened, Statement, Target, TypeName,
};
use scopes::{Known, Scopes};
use values::error::{Error, Result, SqlState};

/// The function of a source.
#[derive(Debug, Clone, Copy)]
pub struct Checked<'a> {
    /// The name.
    pub name: &'a str,
    /// The names of the parameters.
    pub parameters: &'a [String],
    /// Whether it returns a set.
    pub returns_set: bool,
    /// Whether it returns nothing.
    pub is_void: bool,
    /// Whether it has output parameters.
    pub has_outputs: bool,
    /// Whether it is a procedure.
    pub is_procedure: bool,
    /// Whether it is one of triggers.
    pub is_trigger: bool,
}

/// What a source needs to know of its surroundings.
pub trait Lookup {
    /// Checks the syntax of a statement.
    ///
    /// # Errors
    /// A syntax error, with its character in the text.
    fn syntax(&self, text: &str) -> Result<()>;

    /// Checks that there is a type.
    ///
    /// # Errors
    /// 42704, 42601.
    fn type_name(&self, name: &str) -> Result<()>;

    /// Checks that there is a relation, with a column.
    ///
    /// # Errors
    /// 42P01, 42703.
    fn relation(&self, name: &str, column: Option<&str>) -> Result<()>;
}

/// Checks a source.
///
/// # Errors
/// What is wrong with it; positions count the characters of the source.
pub fn check(block: &Block, of: &Checked<'_>, lookup: &impl Lookup) -> Result<()> {
    let trigger = [
        "new",
        "old",
        "tg_name",
        "tg_when",
        "tg_level",
        "tg_op",
        "tg_relid",
        "tg_relname",
        "tg_table_name",
        "tg_table_schema",
        "tg_nargs",
        "tg_argv",
    ];
    if let Some(name) = repeated(of.parameters) {
        let message = format!("parameter name \"{name}\" used more than once");
        return Err(Error::new(SqlState::InvalidFunctionDefinition, message));
    }
    let trigger = if of.is_trigger { &trigger[..] } else { &[] };
    let others: Vec<&str> = trigger.iter().copied().chain(["found"]).collect();
    let scopes = Scopes::new(of.name, of.parameters, &others);
    Checker { of, lookup, scopes, cursors: Vec::new() }.block(block)
}

/// The first of some names that is one of those before; parameters without a name have none.
fn repeated(names: &[String]) -> Option<&str> {
    let is_repeated =
        |(at, name): &(usize, &String)| !name.is_empty() && names[..*at].contains(name);
    names.iter().enumerate().find(is_repeated).map(|(_, name)| name.as_str())
}

struct Checker<'a, L> {
    of: &'a Checked<'a>,
    lookup: &'a L,
    scopes: Scopes,
    /// The cursors that are declared with their queries.
    cursors: Vec<BoundCursor>,
}

fn wrong(message: impl std::convert::Into<String>, position: usize) -> Error {
    Error::new(SqlState::SyntaxError, message).at(position)
}

impl<L: Lookup> Checker<'_, L> {
    fn block(&mut self, block: &Block) -> Result<()> {
        self.scopes.open(block.label.as_ref(), false);
        for declaration in &block.declarations {
            let position = declaration.position;
            let known = match &declaration.kind {
                Declared::Alias(of) => {
                    let parts: Vec<String> = of.split('.').map(str::to_owned).collect();
                    let unknown = || {
                        let message = format!("variable \"{of}\" does not exist");
                        Error::new(SqlState::UndefinedObject, message).at(position)
                    };
                    self.scopes.find(&parts).ok_or_else(unknown)?
                }
                Declared::Cursor(bound) => {
                    self.statement_text(&bound.query)?;
                    self.cursors.push(bound.clone());
                    Known::Bound(self.cursors.len() - 1)
                }
                Declared::Variable { of, is_constant, default, .. } => {
                    let known =
                        self.declared(of, position + declaration.name.chars().count() + 1)?;
                    default.iter().try_for_each(|default| self.expression(default))?;
                    if *is_constant { Known::Constant } else { known }
                }
            };
            if !self.scopes.declare(&declaration.name, known) {
                let message = format!("duplicate declaration at or near \"{}\"", declaration.name);
                return Err(wrong(message, position));
            }
        }
        self.all(&block.body)?;
        for handler in &block.handlers {
            for name in ["sqlstate", "sqlerrm"] {
                self.scopes.declare(name, Known::Constant);
            }
            self.all(&handler.body)?;
        }
        self.scopes.close();
        Ok(())
    }

    /// The type of a variable.
    fn declared(&self, of: &TypeName, position: usize) -> Result<Known> {
        let at = |error: Error| match error.state() {
            SqlState::UndefinedTable | SqlState::UndefinedColumn => error,
            _ => error.at(position),
        };
        match of {
            TypeName::Record => Ok(Known::NoCursor),
            TypeName::Plain(name) => {
                self.lookup.type_name(name).map_err(at)?;
                let is_cursor = name.to_lowercase().ends_with("refcursor");
                Ok(if is_cursor { Known::Variable } else { Known::NoCursor })
            }
            TypeName::RowOf(relation) => {
                self.lookup.relation(relation, None).map_err(at)?;
                Ok(Known::NoCursor)
            }
            TypeName::TypeOf(parts) => {
                let is_variable = self.scopes.find(parts).is_some();
                if let (false, Some((column, relation))) = (is_variable, parts.split_last()) {
                    match relation.is_empty() {
                        true => {
                            let message = format!("variable \"{column}\" does not exist");
                            return Err(Error::new(SqlState::UndefinedObject, message).at(position));
                        }
                        false => {
                            self.lookup.relation(&relation.join("."), Some(column)).map_err(at)?;
                        }
                    }
                }
                Ok(Known::Variable)
            }
        }
    }

    fn all(&mut self, statements: &[Statement]) -> Result<()> {
        statements.iter().try_for_each(|statement| self.statement(statement))
    }

    fn inside(&mut self, label: Option<&String>, body: &[Statement]) -> Result<()> {
        self.scopes.open(label, true);
        self.all(body)?;
        self.scopes.close();
        Ok(())
    }

    fn statement(&mut self, statement: &Statement) -> Result<()> {
        let position = statement.position;
        self.texts(&statement.kind)?;
        match &statement.kind {
            Kind::Block(block) => self.block(block),
            Kind::If(branches, otherwise) => {
                branches.iter().try_for_each(|(_, body)| self.all(body))?;
                self.all(otherwise)
            }
            Kind::Case(_, branches, otherwise) => {
                branches.iter().try_for_each(|(_, body)| self.all(body))?;
                otherwise.iter().try_for_each(|body| self.all(body))
            }
            Kind::Loop(label, _, body) => self.inside(label.as_ref(), body),
            Kind::ForRange(range) => {
                self.scopes.open(range.label.as_ref(), true);
                self.scopes.declare(&range.variable, Known::NoCursor);
                self.all(&range.body)?;
                self.scopes.close();
                Ok(())
            }
            Kind::ForRows(label, targets, _, body) => {
                if targets.iter().any(|target| self.scopes.of(target).is_none()) {
                    let message = "loop variable of loop over rows must be a record variable or \
                                   list of scalar variables";
                    return Err(wrong(message, position + "FOR ".len()));
                }
                self.targets(targets, position + "FOR ".len())?;
                self.inside(label.as_ref(), body)
            }
            Kind::Foreach(looped) => {
                if looped.targets.iter().any(|target| self.scopes.of(target).is_none()) {
                    let message = "loop variable of FOREACH must be a known variable or list of \
                                   variables";
                    return Err(wrong(message, position + "FOREACH ".len()));
                }
                self.targets(&looped.targets, position)?;
                self.inside(looped.label.as_ref(), &looped.body)
            }
            Kind::Assign(target, _) | Kind::AssignItem(target, ..) => {
                self.targets(std::slice::from_ref(target), position)
            }
            Kind::Execute(_, Some(Into { targets, .. })) => self.targets(targets, position),
            Kind::Diagnostics { items, .. } => {
                items.iter().try_for_each(|(target, _)| self.target(target, position))
            }
            Kind::ForCursor(_) | Kind::Open(_) | Kind::Fetch(_) | Kind::Close(_) => {
                self.of_cursor(&statement.kind, position)
            }
            Kind::Leave { is_continue, label, .. } => {
                self.leave(*is_continue, label.as_deref(), position)
            }
            Kind::Return(_) | Kind::ReturnNext(_) | Kind::ReturnQuery(_) => {
                self.returned(&statement.kind, position)
            }
            _ => Ok(()),
        }
    }

    /// A statement about a cursor.
    fn of_cursor(&mut self, kind: &Kind, position: usize) -> Result<()> {
        match kind {
            Kind::ForCursor(looped) => {
                self.cursor(&looped.cursor, position)?;
                if !matches!(self.scopes.of(&looped.cursor), Some(Known::Bound(_))) {
                    let message = "cursor FOR loop must use a bound cursor variable";
                    return Err(wrong(message, position));
                }
                self.arguments(&looped.cursor, &looped.arguments, position)?;
                self.scopes.open(looped.label.as_ref(), true);
                self.scopes.declare(&looped.variable, Known::NoCursor);
                self.all(&looped.body)?;
                self.scopes.close();
                Ok(())
            }
            Kind::Open(open) => {
                self.cursor(&open.cursor, position + "OPEN ".len())?;
                match &open.of {
                    Opened::Bound(arguments) => self.arguments(&open.cursor, arguments, position),
                    Opened::Rows(_) => Ok(()),
                }
            }
            Kind::Fetch(fetch) => {
                self.cursor(&fetch.cursor, position)?;
                self.targets(&fetch.into, position)
            }
            Kind::Close(target) => self.cursor(target, position + "CLOSE ".len()),
            _ => Ok(()),
        }
    }

    fn targets(&self, targets: &[Target], position: usize) -> Result<()> {
        targets.iter().try_for_each(|target| self.target(target, position))
    }

    fn target(&self, target: &Target, position: usize) -> Result<()> {
        let shown = || target.parts.join(".");
        match self.scopes.of(target) {
            Some(Known::Constant) => {
                let message = format!("variable \"{}\" is declared CONSTANT", shown());
                Err(Error::new(SqlState::chosen("22005"), message).at(position))
            }
            Some(_) => Ok(()),
            None => Err(wrong(format!("\"{}\" is not a known variable", shown()), position)),
        }
    }

    fn cursor(&self, target: &Target, position: usize) -> Result<()> {
        let shown = || target.parts.join(".");
        match self.scopes.of(target) {
            Some(Known::NoCursor) if target.parts.len() == 1 => {
                let message =
                    format!("variable \"{}\" must be of type cursor or refcursor", shown());
                Err(Error::new(SqlState::DatatypeMismatch, message).at(position))
            }
            Some(_) => Ok(()),
            None => Err(wrong(format!("\"{}\" is not a known variable", shown()), position)),
        }
    }

    /// The arguments of a cursor that is declared with its query.
    fn arguments(&self, target: &Target, arguments: &[Argument], position: usize) -> Result<()> {
        let Some(Known::Bound(number)) = self.scopes.of(target) else { return Ok(()) };
        let Some(bound) = self.cursors.get(number) else { return Ok(()) };
        let given = bound.given(&target.parts.join("."), arguments);
        given.map(drop).map_err(|error| error.at(position))
    }

    fn leave(&self, is_continue: bool, label: Option<&str>, position: usize) -> Result<()> {
        let word = if is_continue { "CONTINUE" } else { "EXIT" };
        let Some(label) = label else {
            return match (self.scopes.has_loop(), is_continue) {
                (true, _) => Ok(()),
                (false, true) => Err(wrong("CONTINUE cannot be used outside a loop", position)),
                (false, false) => {
                    let message = "EXIT cannot be used outside a loop, unless it has a label";
                    Err(wrong(message, position))
                }
            };
        };
        let position = position + word.len() + 1;
        match self.scopes.is_of_loop(label) {
            None => {
                let message = format!(
                    "there is no label \"{label}\" attached to any block or loop enclosing this \
                     statement"
                );
                Err(wrong(message, position))
            }
            Some(false) if is_continue => {
                let message = format!("block label \"{label}\" cannot be used in CONTINUE");
                Err(wrong(message, position))
            }
            Some(_) => Ok(()),
        }
    }

    /// RETURN, RETURN NEXT and RETURN QUERY.
    fn returned(&self, kind: &Kind, position: usize) -> Result<()> {
        let of = self.of;
        let mismatch =
            |message: &str, at: usize| Err(Error::new(SqlState::DatatypeMismatch, message).at(at));
        let behind = position + "RETURN ".len();
        match kind {
            Kind::Return(Some(value)) if of.returns_set => {
                let message = "RETURN cannot have a parameter in function returning set";
                let error = Error::new(SqlState::DatatypeMismatch, message).at(value.position);
                Err(error.with_hint("Use RETURN NEXT or RETURN QUERY."))
            }
            Kind::Return(_) if of.returns_set => Ok(()),
            Kind::Return(Some(value)) if of.is_procedure && !of.has_outputs => {
                Err(wrong("RETURN cannot have a parameter in a procedure", value.position))
            }
            Kind::Return(Some(value)) if of.is_void => mismatch(
                "RETURN cannot have a parameter in function returning void",
                value.position,
            ),
            Kind::Return(Some(value)) if of.has_outputs => mismatch(
                "RETURN cannot have a parameter in function with OUT parameters",
                value.position,
            ),
            Kind::Return(None) if !of.is_void && !of.is_procedure && !of.has_outputs => {
                Err(wrong("missing expression at or near \";\"", behind - 1))
            }
            Kind::ReturnNext(_) if !of.returns_set => {
                mismatch("cannot use RETURN NEXT in a non-SETOF function", position)
            }
            Kind::ReturnNext(Some(value)) if of.has_outputs => mismatch(
                "RETURN NEXT cannot have a parameter in function with OUT parameters",
                value.position,
            ),
            Kind::ReturnNext(None) if !of.has_outputs => {
                Err(wrong("missing expression at or near \";\"", behind + "NEXT".len()))
            }
            Kind::ReturnQuery(_) if !of.returns_set => {
                mismatch("cannot use RETURN QUERY in a non-SETOF function", position)
            }
            _ => Ok(()),
        }
    }
}
