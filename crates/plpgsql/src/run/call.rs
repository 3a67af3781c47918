//! CALL, COMMIT and ROLLBACK.

use super::Machine;
use super::context::of_sql;
use super::host::Host;
use crate::tree::{Sql, Target};
use values::error::{Error, Result, SqlState};

impl<H: Host> Machine<'_, H> {
    /// Calls a procedure. The host names each value of an output parameter by the place of its argument and the name of the
    /// parameter, with a space between.
    pub(super) async fn call(&mut self, sql: &Sql, targets: &[Option<Target>]) -> Result<()> {
        let variables = self.scopes.variables(sql);
        let answer = self.host.execute(sql, &variables, None).await;
        let answer = answer.map_err(of_sql(&sql.text))?;
        let Some(row) = answer.rows.into_iter().next() else { return Ok(()) };
        for (column, value) in answer.columns.iter().zip(row) {
            let (place, name) = column.split_once(' ').unwrap_or((column, ""));
            let target = place.parse().ok().and_then(|place: usize| targets.get(place)?.as_ref());
            let Some(target) = target else {
                let message = format!(
                    "procedure parameter \"{name}\" is an output parameter but corresponding \
                     argument is not writable"
                );
                return Err(Error::new(SqlState::SyntaxError, message));
            };
            self.assign(target, value).await?;
        }
        Ok(())
    }

    /// Ends the transaction, and begins another one.
    pub(super) async fn end_transaction(&mut self, commits: bool) -> Result<()> {
        if self.protected > 0 {
            let what = if commits { "commit" } else { "roll back" };
            let message = format!("cannot {what} while a subtransaction is active");
            return Err(Error::new(SqlState::chosen("2D000"), message));
        }
        self.host.end_transaction(commits).await
    }
}
