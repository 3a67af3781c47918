//! PostgreSQL's error codes, as many as Pando answers with.

/// Declares [`SqlState`]: each code with its variant and its five characters.
macro_rules! states {
    ($($(#[$doc:meta])* $name:ident = $code:literal,)+) => {
        /// A PostgreSQL error code: <https://www.postgresql.org/docs/current/errcodes-appendix.html>.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum SqlState {
            $($(#[$doc])* #[doc = concat!("(", $code, ").")] $name,)+
        }

        impl SqlState {
            /// The five characters that clients compare.
            pub const fn code(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)+
                }
            }

            /// The code of these five characters, if it is one that Pando answers with.
            pub fn of_code(code: &str) -> Option<Self> {
                match code {
                    $($code => Some(Self::$name),)+
                    _ => None,
                }
            }
        }
    };
}

states! {
    /// Nothing is wrong
    SuccessfulCompletion = "00000",
    /// Something that a client may want to know
    Warning = "01000",
    /// A warning: some privileges were not the grantor's to take away
    WarningPrivilegeNotRevoked = "01006",
    /// A warning: some privileges were not the grantor's to hand on
    WarningPrivilegeNotGranted = "01007",
    /// Another server cannot be reached
    ConnectionFailure = "08006",
    /// A message that does not follow the wire protocol
    ProtocolViolation = "08P01",
    /// The statement is understood, and not supported
    FeatureNotSupported = "0A000",
    /// A privilege that there is not for such a thing, or for such a role
    InvalidGrantOperation = "0LP01",
    /// A subquery gave more rows than it may
    CardinalityViolation = "21000",
    /// A value does not fit what is done with it
    DataException = "22000",
    /// Text longer than its column allows
    StringDataRightTruncation = "22001",
    /// A number outside its type's range
    NumericValueOutOfRange = "22003",
    /// NULL where a value must be
    NullValueNotAllowed = "22004",
    /// Text that is no date or time
    InvalidDatetimeFormat = "22007",
    /// A date or time with a field that it cannot have, or beyond the type's range
    DatetimeFieldOverflow = "22008",
    /// A sequence has reached its limit
    SequenceGeneratorLimitExceeded = "2200H",
    /// A piece of text of a negative length
    SubstringError = "22011",
    /// Division by zero
    DivisionByZero = "22012",
    /// Text that is no regular expression
    InvalidRegularExpression = "2201B",
    /// A logarithm that is no number
    InvalidLogarithmArgument = "2201E",
    /// A root or a power that is no number
    InvalidPowerArgument = "2201F",
    /// LIMIT below zero
    InvalidRowCountInLimit = "2201W",
    /// OFFSET below zero
    InvalidRowCountInOffset = "2201X",
    /// Bytes that are no text
    CharacterNotInRepertoire = "22021",
    /// A setting or an option has a value that it cannot have
    InvalidParameterValue = "22023",
    /// A place that an array or bytes do not have
    ArraySubscriptError = "2202E",
    /// Text that is no value of the type
    InvalidTextRepresentation = "22P02",
    /// Bytes that are no value of the type
    InvalidBinaryRepresentation = "22P03",
    /// A file does not have the format that COPY expects
    BadCopyFileFormat = "22P04",
    /// An escape that stands for no character of a text
    UntranslatableCharacter = "22P05",
    /// NULL in a column that is NOT NULL
    NotNullViolation = "23502",
    /// A primary key that exists already
    UniqueViolation = "23505",
    /// A CHECK constraint said no
    CheckViolation = "23514",
    /// The statement cannot run inside a transaction
    ActiveSqlTransaction = "25001",
    /// A write in a READ ONLY transaction
    ReadOnlySqlTransaction = "25006",
    /// There is no transaction
    NoActiveSqlTransaction = "25P01",
    /// The transaction has failed and waits for ROLLBACK
    InFailedSqlTransaction = "25P02",
    /// A transaction was left open for too long
    IdleInTransactionSessionTimeout = "25P03",
    /// No prepared statement has this name
    InvalidSqlStatementName = "26000",
    /// This user may not log in
    InvalidAuthorization = "28000",
    /// The password is wrong
    InvalidPassword = "28P01",
    /// Something else still depends on the object
    DependentObjectsStillExist = "2BP01",
    /// No cursor or portal has this name
    InvalidCursorName = "34000",
    /// No savepoint has this name
    InvalidSavepointSpecification = "3B001",
    /// No database has this name
    InvalidCatalogName = "3D000",
    /// No schema has this name
    InvalidSchemaName = "3F000",
    /// Another transaction wrote the same rows first; run the transaction again
    SerializationFailure = "40001",
    /// The user may not do this
    InsufficientPrivilege = "42501",
    /// The statement cannot be parsed
    SyntaxError = "42601",
    /// A name that cannot be used
    InvalidName = "42602",
    /// A column definition that contradicts itself
    InvalidColumnDefinition = "42611",
    /// A column is named twice
    DuplicateColumn = "42701",
    /// A column name that means more than one column
    AmbiguousColumn = "42702",
    /// No column has this name
    UndefinedColumn = "42703",
    /// No such type, setting or object
    UndefinedObject = "42704",
    /// The object exists already
    DuplicateObject = "42710",
    /// A name in FROM or WITH is given twice
    DuplicateAlias = "42712",
    /// An operator or a function of which several would do
    AmbiguousFunction = "42725",
    /// A column must be grouped or aggregated
    GroupingError = "42803",
    /// A value of one type where another is needed
    DatatypeMismatch = "42804",
    /// The relation is of another kind (a view where a table is needed)
    WrongObjectType = "42809",
    /// A type that has no cast to another
    CannotCoerce = "42846",
    /// No function with this name takes these arguments
    UndefinedFunction = "42883",
    /// A value for a GENERATED ALWAYS column
    GeneratedAlways = "428C9",
    /// The name is reserved for the system
    ReservedName = "42939",
    /// No table or view has this name
    UndefinedTable = "42P01",
    /// A parameter has no value
    UndefinedParameter = "42P02",
    /// A cursor of this name is open
    DuplicateCursor = "42P03",
    /// A prepared statement of this name exists
    DuplicatePreparedStatement = "42P05",
    /// The schema exists already
    DuplicateSchema = "42P06",
    /// The table, view or sequence exists already
    DuplicateTable = "42P07",
    /// A column reference that cannot be used here (ON CONFLICT, ORDER BY)
    InvalidColumnReference = "42P10",
    /// A table definition that contradicts itself
    InvalidTableDefinition = "42P16",
    /// A definition that contradicts itself (a generated column)
    InvalidObjectDefinition = "42P17",
    /// A window function where there can be none
    WindowingError = "42P20",
    /// A disk has no room
    DiskFull = "53100",
    /// Memory is used up; nothing was changed
    OutOfMemory = "53200",
    /// No more connections are taken
    TooManyConnections = "53300",
    /// A value or a statement above a limit
    ProgramLimitExceeded = "54000",
    /// A statement or a value nests too deeply
    StatementTooComplex = "54001",
    /// The object is not in a state for this (currval before nextval)
    ObjectNotInPrerequisiteState = "55000",
    /// Something that is in use cannot go
    ObjectInUse = "55006",
    /// A setting that nobody sets
    CantChangeRuntimeParameter = "55P02",
    /// Cancelled, by the user or by a time-out
    QueryCanceled = "57014",
    /// The server stops
    AdminShutdown = "57P01",
    /// A session said nothing for too long
    IdleSessionTimeout = "57P05",
    /// A file cannot be read or written
    IoError = "58030",
    /// No file has this name
    UndefinedFile = "58P01",
    /// A defect of Pando
    InternalError = "XX000",
}
