//! Requests between servers, in groups. Each group has a kind of answer, and one place that answers.

use super::directory::{DirectoryAnswer, DirectoryRequest};
use super::moves::{MoveAnswer, MoveRequest};
use super::ordinals::ordinals;
use super::root::{RootAnswer, RootRequest};
use super::rows::{RowsAnswer, RowsRequest};
use super::transaction::{TransactionAnswer, TransactionRequest};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// A request.
///
/// The network delivers a request at most once, and says of an error whether the request may have been executed. It may
/// arrive after later ones, and long after its sender has ended the call. So each variant of a group says who sends it to
/// whom and why, and what a late receiver does, unless it only reads.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Request {
    /// To the root.
    Root(RootRequest),
    /// Of a statement, to the owner of rows, or to any server.
    Rows(RowsRequest),
    /// Between coordinator and participants.
    Transaction(TransactionRequest),
    /// Of the source of a move to its destination.
    Move(MoveRequest),
    /// About the owners of keys, to any server.
    Directory(DirectoryRequest),
}

ordinals!(Request { 0 = Root, 1 = Rows, 2 = Transaction, 3 = Move, 4 = Directory });

/// A request of one of the groups.
pub trait Question: Into<Request> + Clone {
    /// What its receiver answers.
    type Answer: DeserializeOwned + Debug;
}

impl Request {
    /// The name of the request within its group.
    pub fn question(&self) -> &'static str {
        match self {
            Self::Root(request) => request.name(),
            Self::Rows(request) => request.name(),
            Self::Transaction(request) => request.name(),
            Self::Move(request) => request.name(),
            Self::Directory(request) => request.name(),
        }
    }
}

/// Makes the requests of a group requests, and says what answers them.
macro_rules! groups {
    ($($group:ident: $request:ident => $answer:ident),* $(,)?) => {
        $(
            impl From<$request> for Request {
                fn from(request: $request) -> Self {
                    Self::$group(request)
                }
            }

            impl Question for $request {
                type Answer = $answer;
            }
        )*
    };
}

groups! {
    Root: RootRequest => RootAnswer,
    Rows: RowsRequest => RowsAnswer,
    Transaction: TransactionRequest => TransactionAnswer,
    Move: MoveRequest => MoveAnswer,
    Directory: DirectoryRequest => DirectoryAnswer,
}
