//! A statement that is neither a query nor a change of rows.

use crate::{
    AlterSystem, Call, Copy, Declaration, Definition, Discard, Do, Execute, Explain, Fetch,
    Prepare, RoleStatement, SettingStatement, Transaction,
};

/// A statement that is neither a query nor a change of rows.
#[derive(Debug, Clone)]
pub enum Command {
    /// BEGIN, COMMIT, ROLLBACK, savepoints.
    Transaction(Transaction),
    /// SET, RESET and SHOW.
    Setting(SettingStatement),
    /// ALTER SYSTEM.
    AlterSystem(AlterSystem),
    /// CREATE, ALTER, DROP and others that change definitions.
    Definition(Box<Definition>),
    /// A statement about roles, privileges or owners.
    Role(RoleStatement),
    /// COPY.
    Copy(Copy),
    /// EXPLAIN. The explained statement is in the tree.
    Explain(Explain),
    /// DECLARE. The query is in the tree.
    Declare(Declaration),
    /// FETCH or MOVE.
    Fetch(Fetch),
    /// CLOSE of a cursor; `None` for all.
    Close(Option<String>),
    /// PREPARE. The statement is in the tree.
    Prepare(Prepare),
    /// EXECUTE.
    Execute(Execute),
    /// DEALLOCATE of a prepared statement; `None` for all.
    Deallocate(Option<String>),
    /// DISCARD.
    Discard(Discard),
    /// LISTEN to a channel.
    Listen(String),
    /// NOTIFY: the channel and the payload.
    Notify(String, String),
    /// UNLISTEN of a channel; `None` for all.
    Unlisten(Option<String>),
    /// DO.
    Do(Do),
    /// CALL.
    Call(Call),
}
