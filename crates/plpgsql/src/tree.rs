//! Functions as trees of statements. Expressions and SQL statements are texts.

use std::sync::Arc;

/// An expression or statement of SQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sql {
    /// Its number, unique in the source.
    pub id: usize,
    /// The text.
    pub text: String,
    /// The character of the source at which it begins, from 1.
    pub position: usize,
    /// The names in it, each once, in lower case unless they are quoted.
    pub names: Vec<String>,
    /// The assignment whose value or subscript it is, as it is written.
    pub assignment: Option<Arc<str>>,
}

/// BEGIN ... END with its declarations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// What names mean that are both a variable's and a column's; of the outermost block.
    pub conflict: Conflict,
    /// Whether errors of INTO STRICT have the values of parameters: `#print_strict_params`; of the outermost block.
    pub prints_strict: bool,
    /// The label.
    pub label: Option<String>,
    /// DECLARE.
    pub declarations: Vec<Declaration>,
    /// The statements.
    pub body: Vec<Statement>,
    /// EXCEPTION.
    pub handlers: Vec<Handler>,
}

/// What a name means that is both a variable's and a column's: `#variable_conflict`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Conflict {
    /// It is ambiguous.
    #[default]
    Error,
    /// The column.
    Column,
    /// The variable.
    Variable,
}

/// A declared variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declaration {
    /// The name.
    pub name: String,
    /// What it is.
    pub kind: Declared,
    /// The character of the source at which it begins.
    pub position: usize,
    /// The line, from 1.
    pub line: usize,
}

/// What is declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Declared {
    /// A variable.
    Variable {
        /// The type.
        of: TypeName,
        /// CONSTANT.
        is_constant: bool,
        /// NOT NULL.
        not_null: bool,
        /// The first value.
        default: Option<Sql>,
    },
    /// ALIAS FOR a variable or `$n`.
    Alias(String),
    /// CURSOR FOR a query.
    Cursor(BoundCursor),
}

/// A cursor that is declared with its query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundCursor {
    /// SCROLL or NO SCROLL.
    pub scrolls: Option<bool>,
    /// The names and types of its parameters.
    pub parameters: Vec<(String, TypeName)>,
    /// The query.
    pub query: Sql,
}

/// An argument of a cursor that is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// The parameter, if the argument names it.
    pub name: Option<String>,
    /// The value.
    pub value: Sql,
}

/// OPEN.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open {
    /// The variable.
    pub cursor: Target,
    /// SCROLL or NO SCROLL.
    pub scrolls: Option<bool>,
    /// What it is opened for.
    pub of: Opened,
}

/// What a cursor is opened for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opened {
    /// The query of its declaration, with arguments.
    Bound(Vec<Argument>),
    /// FOR.
    Rows(Rows),
}

/// FETCH or MOVE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetch {
    /// The variable of the cursor.
    pub cursor: Target,
    /// Where to.
    pub direction: Direction,
    /// INTO.
    pub into: Vec<Target>,
    /// MOVE.
    pub moves: bool,
}

/// The direction of FETCH and MOVE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Direction {
    /// FORWARD.
    Forward(Count),
    /// BACKWARD.
    Backward(Count),
    /// FIRST.
    First,
    /// LAST.
    Last,
    /// ABSOLUTE.
    Absolute(Sql),
    /// RELATIVE.
    Relative(Sql),
}

/// The operand of CASE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operand {
    /// The variable that has its value in the conditions.
    pub variable: String,
    /// The operand.
    pub value: Sql,
}

/// A number of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Count {
    /// One row.
    One,
    /// ALL.
    All,
    /// The value of an expression.
    Of(Sql),
}

/// The type of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypeName {
    /// A type of SQL, as written.
    Plain(String),
    /// `record`.
    Record,
    /// `table%ROWTYPE`.
    RowOf(String),
    /// `variable%TYPE` or `table.column%TYPE`.
    TypeOf(Vec<String>),
}

/// WHEN of EXCEPTION.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handler {
    /// The names and SQLSTATEs of conditions; `others` for all but a few.
    pub conditions: Vec<Condition>,
    /// The statements.
    pub body: Vec<Statement>,
}

/// A condition of a handler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// OTHERS.
    Others,
    /// A SQLSTATE. One that ends with `000` stands for its class.
    State(String),
}

/// A statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// What it does.
    pub kind: Kind,
    /// The character of the source at which it begins.
    pub position: usize,
    /// The line, from 1.
    pub line: usize,
}

/// What is assigned to: a variable, or a field of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The parts of the name.
    pub parts: Vec<String>,
}

/// Where rows come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rows {
    /// A query.
    Query(Sql),
    /// EXECUTE of a text, with the values of USING.
    Dynamic(Sql, Vec<Sql>),
}

/// INTO.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Into {
    /// STRICT.
    pub is_strict: bool,
    /// The variables.
    pub targets: Vec<Target>,
}

/// The kinds of statements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A block.
    Block(Block),
    /// `:=`.
    Assign(Target, Sql),
    /// `:=` of a part of a value.
    AssignItem(Target, Vec<Step>, Sql),
    /// IF: conditions with statements, and ELSE.
    If(Vec<(Sql, Vec<Statement>)>, Vec<Statement>),
    /// CASE: its operand, if it has one, conditions with statements, and ELSE, if there is one.
    Case(Option<Operand>, Vec<(Sql, Vec<Statement>)>, Option<Vec<Statement>>),
    /// LOOP, and WHILE with its condition.
    Loop(Option<String>, Option<Sql>, Vec<Statement>),
    /// FOR over numbers.
    ForRange(Box<ForRange>),
    /// FOR over rows.
    ForRows(Option<String>, Vec<Target>, Rows, Vec<Statement>),
    /// FOR over the rows of a cursor.
    ForCursor(Box<ForCursor>),
    /// OPEN.
    Open(Box<Open>),
    /// FETCH and MOVE.
    Fetch(Box<Fetch>),
    /// CLOSE.
    Close(Target),
    /// FOREACH over the items of an array.
    Foreach(Box<Foreach>),
    /// EXIT or CONTINUE.
    Leave {
        /// CONTINUE.
        is_continue: bool,
        /// The label of the loop or block.
        label: Option<String>,
        /// WHEN.
        when: Option<Sql>,
    },
    /// RETURN.
    Return(Option<Sql>),
    /// RETURN NEXT.
    ReturnNext(Option<Sql>),
    /// RETURN QUERY.
    ReturnQuery(Rows),
    /// RAISE.
    Raise(Box<Raise>),
    /// ASSERT, with its message.
    Assert(Sql, Option<Sql>),
    /// PERFORM.
    Perform(Sql),
    /// A statement of SQL.
    Execute(Rows, Option<Into>),
    /// CALL, with the variables that its arguments are.
    Call(Sql, Vec<Option<Target>>),
    /// COMMIT or ROLLBACK.
    EndTransaction {
        /// COMMIT.
        commits: bool,
    },
    /// GET DIAGNOSTICS: variables and items.
    Diagnostics {
        /// STACKED.
        is_stacked: bool,
        /// What is assigned.
        items: Vec<(Target, String)>,
    },
    /// NULL.
    Null,
}

impl Kind {
    /// Its name in the context of errors.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Block(_) => "statement block",
            Self::Assign(..) | Self::AssignItem(..) => "assignment",
            Self::If(..) => "IF",
            Self::Case(..) => "CASE",
            Self::Loop(_, None, _) => "LOOP",
            Self::Loop(_, Some(_), _) => "WHILE",
            Self::ForRange(_) => "FOR with integer loop variable",
            Self::ForRows(_, _, Rows::Query(_), _) => "FOR over SELECT rows",
            Self::ForRows(_, _, Rows::Dynamic(..), _) => "FOR over EXECUTE statement",
            Self::ForCursor(_) => "FOR over cursor",
            Self::Open(_) => "OPEN",
            Self::Fetch(fetch) if fetch.moves => "MOVE",
            Self::Fetch(_) => "FETCH",
            Self::Close(_) => "CLOSE",
            Self::Foreach(..) => "FOREACH over array",
            Self::Leave { is_continue: true, .. } => "CONTINUE",
            Self::Leave { .. } => "EXIT",
            Self::Return(_) => "RETURN",
            Self::ReturnNext(_) => "RETURN NEXT",
            Self::ReturnQuery(_) => "RETURN QUERY",
            Self::Raise(_) => "RAISE",
            Self::Assert(..) => "ASSERT",
            Self::Perform(_) => "PERFORM",
            Self::Execute(Rows::Query(_), _) => "SQL statement",
            Self::Execute(Rows::Dynamic(..), _) => "EXECUTE",
            Self::Call(..) => "CALL",
            Self::EndTransaction { commits: true } => "COMMIT",
            Self::EndTransaction { .. } => "ROLLBACK",
            Self::Diagnostics { is_stacked: true, .. } => "GET STACKED DIAGNOSTICS",
            Self::Diagnostics { .. } => "GET DIAGNOSTICS",
            Self::Null => "NULL",
        }
    }
}

/// FOR over numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForRange {
    /// The label.
    pub label: Option<String>,
    /// The variable, which the loop declares.
    pub variable: String,
    /// REVERSE.
    pub is_reverse: bool,
    /// The first number.
    pub from: Sql,
    /// The last number.
    pub to: Sql,
    /// BY.
    pub by: Option<Sql>,
    /// The statements.
    pub body: Vec<Statement>,
}

/// FOREACH over the items of an array, or over arrays in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreach {
    /// The label.
    pub label: Option<String>,
    /// The variables.
    pub targets: Vec<Target>,
    /// SLICE: the dimensions of an item.
    pub slice: usize,
    /// The array.
    pub array: Sql,
    /// The statements.
    pub body: Vec<Statement>,
}

/// A step to the part of a value that is assigned to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// `[i]`.
    Item(Sql),
    /// `[from:to]`.
    Slice(Option<Sql>, Option<Sql>),
    /// `.name`.
    Field(String),
}

/// FOR over the rows of a cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForCursor {
    /// The label.
    pub label: Option<String>,
    /// The record, which the loop declares.
    pub variable: String,
    /// The variable of the cursor.
    pub cursor: Target,
    /// The arguments of the cursor.
    pub arguments: Vec<Argument>,
    /// The statements.
    pub body: Vec<Statement>,
}

/// RAISE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raise {
    /// The level; `None` for RAISE alone, which raises the current error again.
    pub level: Option<Level>,
    /// The SQLSTATE of a condition.
    pub condition: Option<String>,
    /// The name of the condition, if it is written by its name.
    pub name: Option<String>,
    /// The message with `%` for each of the values.
    pub format: Option<String>,
    /// The values.
    pub values: Vec<Sql>,
    /// USING: names and values.
    pub options: Vec<(String, Sql)>,
}

/// The level of RAISE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// DEBUG.
    Debug,
    /// LOG.
    Log,
    /// INFO.
    Info,
    /// NOTICE.
    Notice,
    /// WARNING.
    Warning,
    /// EXCEPTION.
    Exception,
}
