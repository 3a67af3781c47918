//! What goes wrong, named by what the caller can do about it: a SQLSTATE, a message, and the way out.
//!
//! Every error that leaves this crate is an [`Error`]. Its [`SqlState`] is PostgreSQL's five-character
//! code, so that a client program decides by code and a person by message, detail and hint. How errors
//! of the engine below become ours is in [`translate`](crate::translate).

use std::fmt;

/// A PostgreSQL error code. The variants are the codes that Pando can answer with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SqlState {
    /// 0A000: the statement is understood, and not supported.
    FeatureNotSupported,
    /// 21000: a subquery gave more rows than it may.
    CardinalityViolation,
    /// 22000: a value does not fit what is done with it.
    DataException,
    /// 22001: text longer than its column allows.
    StringDataRightTruncation,
    /// 22003: a number outside its type's range.
    NumericValueOutOfRange,
    /// 22007: text that is no date or time.
    InvalidDatetimeFormat,
    /// 22012: division by zero.
    DivisionByZero,
    /// 22023: a setting or an option has a value that it cannot have.
    InvalidParameterValue,
    /// 22P02: text that is no value of the type.
    InvalidTextRepresentation,
    /// 22P04: a file does not have the format that COPY expects.
    BadCopyFileFormat,
    /// 23502: NULL in a column that is NOT NULL.
    NotNullViolation,
    /// 23505: a primary key that exists already.
    UniqueViolation,
    /// 23514: a CHECK constraint said no.
    CheckViolation,
    /// 25001: the statement cannot run inside a transaction.
    ActiveSqlTransaction,
    /// 25006: a write in a READ ONLY transaction.
    ReadOnlySqlTransaction,
    /// 25P01: there is no transaction.
    NoActiveSqlTransaction,
    /// 25P02: the transaction has failed and waits for ROLLBACK.
    InFailedSqlTransaction,
    /// 26000: no prepared statement has this name.
    InvalidSqlStatementName,
    /// 2BP01: something else still depends on the object.
    DependentObjectsStillExist,
    /// 3B001: no savepoint has this name.
    InvalidSavepointSpecification,
    /// 3F000: no schema has this name.
    InvalidSchemaName,
    /// 40001: another transaction wrote the same rows first; run the transaction again.
    SerializationFailure,
    /// 42601: the statement cannot be parsed.
    SyntaxError,
    /// 42602: a name that cannot be used.
    InvalidName,
    /// 42611: a column definition that contradicts itself.
    InvalidColumnDefinition,
    /// 42701: a column is named twice.
    DuplicateColumn,
    /// 42702: a column name that means more than one column.
    AmbiguousColumn,
    /// 42703: no column has this name.
    UndefinedColumn,
    /// 42704: no such type, setting or object.
    UndefinedObject,
    /// 42710: the object exists already.
    DuplicateObject,
    /// 42803: a column must be grouped or aggregated.
    GroupingError,
    /// 42804: a value of one type where another is needed.
    DatatypeMismatch,
    /// 42809: the relation is of another kind (a view where a table is needed).
    WrongObjectType,
    /// 42883: no function with this name takes these arguments.
    UndefinedFunction,
    /// 42939: the name is reserved for the system.
    ReservedName,
    /// 42P01: no table or view has this name.
    UndefinedTable,
    /// 42P02: a parameter has no value.
    UndefinedParameter,
    /// 42P06: the schema exists already.
    DuplicateSchema,
    /// 42P07: the table, view or sequence exists already.
    DuplicateTable,
    /// 42P10: a column reference that cannot be used here (ON CONFLICT, ORDER BY).
    InvalidColumnReference,
    /// 42P16: a table definition that contradicts itself.
    InvalidTableDefinition,
    /// 428C9: a value for a GENERATED ALWAYS column.
    GeneratedAlways,
    /// 2200H: a sequence has reached its limit.
    SequenceGeneratorLimitExceeded,
    /// 53200: memory is used up; nothing was changed.
    OutOfMemory,
    /// 54000: a value or a statement above a limit.
    ProgramLimitExceeded,
    /// 55000: the object is not in a state for this (currval before nextval).
    ObjectNotInPrerequisiteState,
    /// 57014: cancelled, by the user or by a time-out.
    QueryCanceled,
    /// 58030: a file cannot be read or written.
    IoError,
    /// 58P01: no file has this name.
    UndefinedFile,
    /// 08P01: a message that does not follow the wire protocol.
    ProtocolViolation,
    /// 22021: bytes that are no text.
    CharacterNotInRepertoire,
    /// 22P03: bytes that are no value of the type.
    InvalidBinaryRepresentation,
    /// 25P03: a transaction was left open for too long.
    IdleInTransactionSessionTimeout,
    /// 28000: this user may not log in.
    InvalidAuthorization,
    /// 28P01: the password is wrong.
    InvalidPassword,
    /// 34000: no cursor or portal has this name.
    InvalidCursorName,
    /// 3D000: no database has this name.
    InvalidCatalogName,
    /// 42501: the user may not do this.
    InsufficientPrivilege,
    /// 42P03: a cursor of this name is open.
    DuplicateCursor,
    /// 42P05: a prepared statement of this name exists.
    DuplicatePreparedStatement,
    /// 53300: no more connections are taken.
    TooManyConnections,
    /// 57P01: the server stops.
    AdminShutdown,
    /// 00000: nothing is wrong.
    SuccessfulCompletion,
    /// 57P05: a session said nothing for too long.
    IdleSessionTimeout,
    /// 01000: something that a client may want to know.
    Warning,
    /// XX000: a defect of Pando.
    InternalError,
}

impl SqlState {
    /// The five characters that clients compare.
    pub const fn code(self) -> &'static str {
        match self {
            Self::FeatureNotSupported => "0A000",
            Self::CardinalityViolation => "21000",
            Self::DataException => "22000",
            Self::StringDataRightTruncation => "22001",
            Self::NumericValueOutOfRange => "22003",
            Self::InvalidDatetimeFormat => "22007",
            Self::DivisionByZero => "22012",
            Self::InvalidParameterValue => "22023",
            Self::InvalidTextRepresentation => "22P02",
            Self::BadCopyFileFormat => "22P04",
            Self::NotNullViolation => "23502",
            Self::UniqueViolation => "23505",
            Self::CheckViolation => "23514",
            Self::ActiveSqlTransaction => "25001",
            Self::ReadOnlySqlTransaction => "25006",
            Self::NoActiveSqlTransaction => "25P01",
            Self::InFailedSqlTransaction => "25P02",
            Self::InvalidSqlStatementName => "26000",
            Self::DependentObjectsStillExist => "2BP01",
            Self::InvalidSavepointSpecification => "3B001",
            Self::InvalidSchemaName => "3F000",
            Self::SerializationFailure => "40001",
            Self::SyntaxError => "42601",
            Self::InvalidName => "42602",
            Self::InvalidColumnDefinition => "42611",
            Self::DuplicateColumn => "42701",
            Self::AmbiguousColumn => "42702",
            Self::UndefinedColumn => "42703",
            Self::UndefinedObject => "42704",
            Self::DuplicateObject => "42710",
            Self::GroupingError => "42803",
            Self::DatatypeMismatch => "42804",
            Self::WrongObjectType => "42809",
            Self::UndefinedFunction => "42883",
            Self::ReservedName => "42939",
            Self::UndefinedTable => "42P01",
            Self::UndefinedParameter => "42P02",
            Self::DuplicateSchema => "42P06",
            Self::DuplicateTable => "42P07",
            Self::InvalidColumnReference => "42P10",
            Self::InvalidTableDefinition => "42P16",
            Self::GeneratedAlways => "428C9",
            Self::SequenceGeneratorLimitExceeded => "2200H",
            Self::OutOfMemory => "53200",
            Self::ProgramLimitExceeded => "54000",
            Self::ObjectNotInPrerequisiteState => "55000",
            Self::QueryCanceled => "57014",
            Self::IoError => "58030",
            Self::UndefinedFile => "58P01",
            Self::ProtocolViolation => "08P01",
            Self::CharacterNotInRepertoire => "22021",
            Self::InvalidBinaryRepresentation => "22P03",
            Self::IdleInTransactionSessionTimeout => "25P03",
            Self::InvalidAuthorization => "28000",
            Self::InvalidPassword => "28P01",
            Self::InvalidCursorName => "34000",
            Self::InvalidCatalogName => "3D000",
            Self::InsufficientPrivilege => "42501",
            Self::DuplicateCursor => "42P03",
            Self::DuplicatePreparedStatement => "42P05",
            Self::TooManyConnections => "53300",
            Self::AdminShutdown => "57P01",
            Self::SuccessfulCompletion => "00000",
            Self::IdleSessionTimeout => "57P05",
            Self::Warning => "01000",
            Self::InternalError => "XX000",
        }
    }
}

/// An error with everything that a client shows: code, message, detail, hint, place in the statement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Error(Box<Fields>);

/// The result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Fields {
    state: SqlState,
    message: String,
    detail: Option<String>,
    hint: Option<String>,
    position: Option<usize>,
}

impl Error {
    /// An error with a code and one sentence that names the offending value.
    pub fn new(state: SqlState, message: impl Into<String>) -> Self {
        let message = message.into();
        Self(Box::new(Fields { state, message, detail: None, hint: None, position: None }))
    }

    /// Shorthand for what Pando understands and does not do.
    pub fn unsupported(what: impl Into<String>) -> Self {
        Self::new(SqlState::FeatureNotSupported, what)
    }

    /// Adds what a person needs to understand the message: the values involved.
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.0.detail = Some(detail.into());
        self
    }

    /// Adds what a person can do now.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Adds where in the statement's text the trouble is: characters, counted from 1.
    pub fn at(mut self, position: usize) -> Self {
        self.0.position = Some(position);
        self
    }

    /// The code.
    pub fn state(&self) -> SqlState {
        self.0.state
    }

    /// The sentence.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The values involved, where there is more to say.
    pub fn detail(&self) -> Option<&str> {
        self.0.detail.as_deref()
    }

    /// The way out, where there is one.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// Character of the statement's text, counted from 1.
    pub fn position(&self) -> Option<usize> {
        self.0.position
    }

    /// Whether the same statement or transaction may succeed when it is run again.
    pub fn is_retryable(&self) -> bool {
        self.0.state == SqlState::SerializationFailure
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.state.code(), self.0.message)?;
        if let Some(detail) = &self.0.detail {
            write!(f, "\nDETAIL: {detail}")?;
        }
        if let Some(hint) = &self.0.hint {
            write!(f, "\nHINT: {hint}")?;
        }
        Ok(())
    }
}
