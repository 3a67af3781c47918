//! ALTER SYSTEM: settings that are the same on all servers of a cluster. The root keeps them, not the session.

use super::{known, unknown};
use crate::access::Access;
use crate::error::{Error, Result, SqlState};
use crate::outcome::{Outcome, Tag};
use crate::planner::relations::fold;
use crate::session::Inner;
use crate::session::transactions::Conversation;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::Token;
use std::num::NonZeroU64;
use std::sync::Arc;
use store::{MoveSetting, Store};

/// Whether buckets move between servers.
const MOVES: &str = "pando.moves";
/// How fast a server gives them away.
const BYTES_PER_SECOND: &str = "pando.move_bytes_per_second";

/// The least limit: what is slower would hold a piece of a move back for longer than its taker waits.
const LIMIT_MIN: u64 = 64 << 10;

/// `ALTER SYSTEM SET name = value`, or back to the default where there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AlterSystem {
    name: String,
    value: Option<String>,
}

/// The statement, if the parser stands before one; else it stands where it stood.
pub(crate) fn parse(parser: &mut Parser<'_>) -> Result<Option<AlterSystem>, ParserError> {
    if !parser.parse_keywords(&[Keyword::ALTER, Keyword::SYSTEM]) {
        return Ok(None);
    }
    if parser.parse_keyword(Keyword::RESET) {
        return Ok(Some(AlterSystem { name: name(parser)?, value: None }));
    }
    parser.expect_keyword(Keyword::SET)?;
    let name = name(parser)?;
    if !parser.consume_token(&Token::Eq) {
        parser.expect_keyword(Keyword::TO)?;
    }
    let token = parser.next_token();
    let value = match &token.token {
        Token::Word(word) if word.keyword == Keyword::DEFAULT => None,
        Token::Word(word) => Some(word.value.clone()),
        Token::SingleQuotedString(text) => Some(text.clone()),
        Token::Number(number, _) => Some(number.clone()),
        _ => return parser.expected("a value", token),
    };
    Ok(Some(AlterSystem { name, value }))
}

fn name(parser: &mut Parser<'_>) -> Result<String, ParserError> {
    let name = parser.parse_object_name(false)?;
    let parts = name.0.iter().filter_map(|part| part.as_ident());
    Ok(parts.map(|ident| fold(ident).to_lowercase()).collect::<Vec<_>>().join("."))
}

/// What a setting of the whole cluster is now; `None` for any other.
pub(crate) fn value(store: &Store, name: &str) -> Option<String> {
    let moves = store.peers().map(|peers| peers.move_settings()).unwrap_or_default();
    match name {
        MOVES => Some(if moves.is_paused { "paused" } else { "running" }.to_owned()),
        BYTES_PER_SECOND => Some(moves.bytes_per_second.map_or(0, NonZeroU64::get).to_string()),
        _ => None,
    }
}

/// A session's settings, with what those of the whole cluster are now.
pub(crate) fn with_values(store: &Store, settings: &mut [(String, String)]) {
    for (name, shown) in settings {
        if let Some(value) = value(store, name) {
            *shown = value;
        }
    }
}

impl AlterSystem {
    fn change(&self) -> Result<MoveSetting> {
        let Some(known) = known::find(&self.name) else { return Err(unknown(&self.name)) };
        let value = self.value.as_deref().unwrap_or(known.default);
        let refused = |hint: &str| {
            let message = format!("invalid value for parameter \"{}\": \"{value}\"", self.name);
            Error::new(SqlState::InvalidParameterValue, message).with_hint(hint)
        };
        match known.name {
            MOVES => match value.to_lowercase().as_str() {
                "running" => Ok(MoveSetting::IsPaused(false)),
                "paused" => Ok(MoveSetting::IsPaused(true)),
                _ => Err(refused("Available values: running, paused.")),
            },
            BYTES_PER_SECOND => match crate::bytes_of(value) {
                Some(limit) if limit == 0 || limit >= LIMIT_MIN => {
                    Ok(MoveSetting::BytesPerSecond(NonZeroU64::new(limit)))
                }
                _ => Err(refused("Write it like 50MB, at least 64KiB; 0 is no limit.")),
            },
            name => {
                let message = format!("parameter \"{name}\" is not one of the whole cluster");
                let hint = "SET changes it for a session; pando serve --help lists a server's.";
                Err(Error::unsupported(message).with_hint(hint))
            }
        }
    }
}

impl Inner {
    /// Changes a setting on all servers.
    pub(crate) async fn alter_system(
        &self,
        conversation: &mut Conversation,
        statement: &AlterSystem,
    ) -> Result<Outcome> {
        if conversation.open().is_some() && !conversation.is_implicit() {
            let message = "ALTER SYSTEM cannot run inside a transaction block";
            return Err(Error::new(SqlState::ActiveSqlTransaction, message));
        }
        let store = &self.shared.store;
        let (catalog, role) = (store.catalog(), self.names.role());
        if !Access::new(&catalog, role.as_deref().map(String::as_str)).is_superuser() {
            let message = format!("permission denied to set parameter \"{}\"", statement.name);
            return Err(Error::new(SqlState::InsufficientPrivilege, message));
        }
        let change = statement.change()?;
        let peers = Arc::clone(store.peers().ok_or_else(crate::system::alone)?);
        let changed = tokio::task::spawn_blocking(move || peers.change_moves(change)).await;
        changed.map_err(|_| Error::new(SqlState::InternalError, "the server stops"))??;
        Ok(Outcome::Done(Tag::plain("ALTER SYSTEM")))
    }
}
