//! The SQLSTATEs that Pando uses.

/// Declares [`SqlState`]: each code with its variant and its five characters.
macro_rules! states {
    ($($(#[$doc:meta])* $name:ident = $code:literal,)+) => {
        /// A PostgreSQL error code: <https://www.postgresql.org/docs/current/errcodes-appendix.html>.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum SqlState {
            $($(#[$doc])* #[doc = concat!("(", $code, ").")] $name,)+
            /// A code that a user has chosen.
            Chosen(&'static str),
        }

        impl SqlState {
            /// The five-character code.
            pub const fn code(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)+
                    Self::Chosen(code) => code,
                }
            }

            /// The variant of a five-character code; `None` if Pando does not use it.
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
    /// Success
    SuccessfulCompletion = "00000",
    /// A warning
    Warning = "01000",
    /// A warning: the grantor may not revoke some of the privileges
    WarningPrivilegeNotRevoked = "01006",
    /// A warning: the grantor may not grant some of the privileges
    WarningPrivilegeNotGranted = "01007",
    /// Another server cannot be reached
    ConnectionFailure = "08006",
    /// A message violates the wire protocol
    ProtocolViolation = "08P01",
    /// The feature is not supported
    FeatureNotSupported = "0A000",
    /// The privilege does not exist for this kind of object or role
    InvalidGrantOperation = "0LP01",
    /// A subquery returned more than one row
    CardinalityViolation = "21000",
    /// An invalid value, without a more specific code
    DataException = "22000",
    /// A text is longer than its type allows
    StringDataRightTruncation = "22001",
    /// A number is out of the range of its type
    NumericValueOutOfRange = "22003",
    /// NULL is not allowed
    NullValueNotAllowed = "22004",
    /// A text is no date or time
    InvalidDatetimeFormat = "22007",
    /// A field of a date or time, or the whole, is out of range
    DatetimeFieldOverflow = "22008",
    /// The offset of a time zone is out of range
    InvalidTimeZoneDisplacement = "22009",
    /// A field of an interval is out of range
    IntervalFieldOverflow = "22015",
    /// The argument of TABLESAMPLE is NULL or no percentage
    InvalidTablesampleArgument = "2202H",
    /// A subscript of a JSON path is out of range, or no number
    InvalidSqlJsonSubscript = "22033",
    /// An item of a JSON path is no number
    NonNumericSqlJsonItem = "22036",
    /// A JSON path finds not exactly one item
    SingletonSqlJsonItemRequired = "22038",
    /// A JSON path finds no array
    SqlJsonArrayNotFound = "22039",
    /// A JSON path finds no member of an object
    SqlJsonMemberNotFound = "2203A",
    /// A JSON path finds no number
    SqlJsonNumberNotFound = "2203B",
    /// A JSON path finds no object
    SqlJsonObjectNotFound = "2203C",
    /// A sequence has reached its limit
    SequenceGeneratorLimitExceeded = "2200H",
    /// A substring of negative length
    SubstringError = "22011",
    /// Division by zero
    DivisionByZero = "22012",
    /// The offset of a window's frame is negative
    InvalidPrecedingOrFollowingSize = "22013",
    /// The argument of ntile is not positive
    InvalidNtileArgument = "22014",
    /// The number of the row of nth_value is not positive
    InvalidNthValueArgument = "22016",
    /// A text is no regular expression
    InvalidRegularExpression = "2201B",
    /// A logarithm is undefined
    InvalidLogarithmArgument = "2201E",
    /// A root or a power is undefined
    InvalidPowerArgument = "2201F",
    /// width_bucket has no buckets
    InvalidWidthBucketArgument = "2201G",
    /// LIMIT is negative
    InvalidRowCountInLimit = "2201W",
    /// OFFSET is negative
    InvalidRowCountInOffset = "2201X",
    /// An escape that is not allowed there
    InvalidUseOfEscapeCharacter = "2200C",
    /// Bytes are no valid text
    CharacterNotInRepertoire = "22021",
    /// An invalid value of a setting, an option or an argument
    InvalidParameterValue = "22023",
    /// An escape is no single character
    InvalidEscapeSequence = "22025",
    /// An array or bytes do not have this subscript
    ArraySubscriptError = "2202E",
    /// A text is no value of the type
    InvalidTextRepresentation = "22P02",
    /// Bytes are no value of the type
    InvalidBinaryRepresentation = "22P03",
    /// The data do not have the format that COPY expects
    BadCopyFileFormat = "22P04",
    /// An escape is no character that a text can hold
    UntranslatableCharacter = "22P05",
    /// NULL in a NOT NULL column
    NotNullViolation = "23502",
    /// The primary key exists already
    UniqueViolation = "23505",
    /// A foreign key is violated
    ForeignKeyViolation = "23503",
    /// A CHECK constraint is violated
    CheckViolation = "23514",
    /// The statement cannot run in a transaction block
    ActiveSqlTransaction = "25001",
    /// A write in a read-only transaction
    ReadOnlySqlTransaction = "25006",
    /// There is no transaction in progress
    NoActiveSqlTransaction = "25P01",
    /// The transaction has failed; only ROLLBACK is allowed
    InFailedSqlTransaction = "25P02",
    /// A transaction was idle for too long
    IdleInTransactionSessionTimeout = "25P03",
    /// The prepared statement does not exist
    InvalidSqlStatementName = "26000",
    /// The user may not log in
    InvalidAuthorization = "28000",
    /// The password is wrong
    InvalidPassword = "28P01",
    /// Other objects depend on the object
    DependentObjectsStillExist = "2BP01",
    /// The cursor or portal does not exist
    InvalidCursorName = "34000",
    /// A function in another language has failed
    ExternalRoutineException = "38000",
    /// The savepoint does not exist
    InvalidSavepointSpecification = "3B001",
    /// The database does not exist
    InvalidCatalogName = "3D000",
    /// The schema does not exist
    InvalidSchemaName = "3F000",
    /// A conflict with another transaction; run the transaction again
    SerializationFailure = "40001",
    /// Transactions wait for each other in a circle.
    DeadlockDetected = "40P01",
    /// statement_completion_unknown
    StatementCompletionUnknown = "40003",
    /// The user does not have the privilege
    InsufficientPrivilege = "42501",
    /// The statement cannot be parsed
    SyntaxError = "42601",
    /// The name is not allowed
    InvalidName = "42602",
    /// The column definition is invalid
    InvalidColumnDefinition = "42611",
    /// The column exists already or is named twice
    DuplicateColumn = "42701",
    /// The column name is ambiguous
    AmbiguousColumn = "42702",
    /// The column does not exist
    UndefinedColumn = "42703",
    /// The type, setting or object does not exist
    UndefinedObject = "42704",
    /// The object exists already
    DuplicateObject = "42710",
    /// A name in FROM or WITH is used twice
    DuplicateAlias = "42712",
    /// A function with this name and these argument types exists
    DuplicateFunction = "42723",
    /// Several operators or functions match
    AmbiguousFunction = "42725",
    /// A column must be grouped or aggregated
    GroupingError = "42803",
    /// The value has the wrong type
    DatatypeMismatch = "42804",
    /// The object is of the wrong kind (a view where a table is required)
    WrongObjectType = "42809",
    /// There is no cast between the types
    CannotCoerce = "42846",
    /// A foreign key that cannot be
    InvalidForeignKey = "42830",
    /// The function or operator does not exist for these types
    UndefinedFunction = "42883",
    /// A value for a GENERATED ALWAYS column
    GeneratedAlways = "428C9",
    /// The name is reserved for the system
    ReservedName = "42939",
    /// The table or view does not exist
    UndefinedTable = "42P01",
    /// The parameter does not exist
    UndefinedParameter = "42P02",
    /// The cursor exists already
    DuplicateCursor = "42P03",
    /// The prepared statement exists already
    DuplicatePreparedStatement = "42P05",
    /// The schema exists already
    DuplicateSchema = "42P06",
    /// The table, view or sequence exists already
    DuplicateTable = "42P07",
    /// The column reference is not allowed here (ON CONFLICT, ORDER BY)
    InvalidColumnReference = "42P10",
    /// The definition of a cursor contradicts itself
    InvalidCursorDefinition = "42P11",
    /// Two places give a parameter different types
    AmbiguousParameter = "42P08",
    /// A name stands for several objects
    AmbiguousAlias = "42P09",
    /// The table definition is invalid
    InvalidTableDefinition = "42P16",
    /// The definition of an object is invalid (a generated column)
    InvalidObjectDefinition = "42P17",
    /// The definition of a function is wrong
    InvalidFunctionDefinition = "42P13",
    /// The type of a value or parameter cannot be found
    IndeterminateDatatype = "42P18",
    /// The recursive query is not well formed
    InvalidRecursion = "42P19",
    /// A window function is not allowed here
    WindowingError = "42P20",
    /// The disk is full
    DiskFull = "53100",
    /// The memory limit is reached; the statement changed nothing
    OutOfMemory = "53200",
    /// The limit of connections is reached
    TooManyConnections = "53300",
    /// A value or a statement exceeds a limit
    ProgramLimitExceeded = "54000",
    /// A statement or a value nests too deeply
    StatementTooComplex = "54001",
    /// There are too many columns
    TooManyColumns = "54011",
    /// The object is not in the required state (currval before nextval)
    ObjectNotInPrerequisiteState = "55000",
    /// The object is in use
    ObjectInUse = "55006",
    /// The setting is read-only
    CantChangeRuntimeParameter = "55P02",
    /// The lock is not available.
    LockNotAvailable = "55P03",
    /// The label of an enum is not committed
    UnsafeNewEnumValueUsage = "55P04",
    /// The statement was cancelled, by the user or by a timeout
    QueryCanceled = "57014",
    /// The server is shutting down
    AdminShutdown = "57P01",
    /// The session was idle for too long
    IdleSessionTimeout = "57P05",
    /// A file could not be read or written
    IoError = "58030",
    /// The file does not exist
    UndefinedFile = "58P01",
    /// An error of RAISE
    RaiseException = "P0001",
    /// A query returns no rows
    NoDataFound = "P0002",
    /// A query returns more than one row
    TooManyRows = "P0003",
    /// The condition of ASSERT is not true
    AssertFailure = "P0004",
    /// CASE has no branch for a value, and no ELSE
    CaseNotFound = "20000",
    /// A function ends without RETURN
    FunctionExecutedNoReturnStatement = "2F005",
    /// A bug in Pando
    InternalError = "XX000",
    /// A file of a data directory or of a backup is not what was written
    DataCorrupted = "XX001",
}
