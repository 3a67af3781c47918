//! COPY between a table and the client.

use super::Session;
use crate::context::outcome::Outcome;
use crate::copy::client::{self, CopyIn, CopyOut};
use datafusion::sql::sqlparser::ast::Statement as Ast;
use futures::future::BoxFuture;
use parser::Statement;
use store::catalog::SqlType;
use values::error::Result;

impl Session {
    /// Begins a COPY FROM STDIN.
    ///
    /// # Errors
    /// As INSERT.
    pub fn copy_in<'a>(&'a self, statement: &'a Statement) -> BoxFuture<'a, Result<CopyIn>> {
        Box::pin(CopyIn::begin(self.inner(), statement))
    }

    /// Begins a COPY TO STDOUT. `item_oid` numbers the item types of arrays.
    ///
    /// # Errors
    /// As SELECT.
    pub async fn copy_out(
        &self,
        statement: &Statement,
        item_oid: fn(&SqlType) -> u32,
    ) -> Result<CopyOut> {
        let query = client::query(self.inner(), statement).await?;
        let query = match statement.source() {
            Some(_) => statement.with_ast(Ast::Query(Box::new(query))),
            None => parser::one(&query.to_string())?,
        };
        match self.run(&query, &[]).await? {
            Outcome::Rows(rows) => CopyOut::new(rows, statement, item_oid),
            Outcome::Done(_) => Err(client::wrong_direction()),
        }
    }
}
