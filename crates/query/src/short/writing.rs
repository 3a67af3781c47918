//! Changes on the short path: with locks where others write the same rows, and at the owner of a row.

use super::row_change::Changed;
use super::{Action, Given, OPTIMISTIC, RETRIES, RETRIES_AT_OWNER, Short, is_deadlock, operation};
use crate::context::outcome::Outcome;
use crate::context::running::ShortWait;
use std::sync::Arc;
use store::catalog::Catalog;
use store::{DistributedTransaction, Peers, Store};
use values::error::{Result, SqlState};

impl Short {
    /// Executes the statement in a transaction that locks what it writes, again whenever it has waited for other
    /// transactions or meets their changes. `None` as for [`Self::execute`], and if it would have to wait for another server.
    ///
    /// # Errors
    /// Those of the statement, 40P01, 55P03, 57014.
    pub(crate) async fn execute_waiting(
        &self,
        transaction: &mut DistributedTransaction,
        given: Given<'_>,
        wait: &mut ShortWait<'_>,
    ) -> Result<Option<Outcome>> {
        if let Action::Select { .. } | Action::Join(..) = &self.action {
            return self.execute_in(transaction, given).await;
        }
        let catalog = Arc::clone(transaction.catalog());
        while Arc::ptr_eq(transaction.catalog(), &catalog) {
            let before = transaction.savepoint();
            transaction.wait_for_locks(false);
            let done = match self.execute_in(transaction, given).await {
                Ok(done) => self.look_at_keys(transaction, wait).await.map(|()| done),
                error => error,
            };
            transaction.wait_for_locks(true);
            match done {
                Err(error)
                    if error.state() == SqlState::LockNotAvailable && !transaction.has_wait() =>
                {
                    transaction.rollback_to(&before).await?;
                    return Ok(None);
                }
                Err(error) => wait.rolled_back(transaction, &before, error).await?,
                done => return done,
            }
        }
        Ok(None)
    }

    /// Checks the foreign keys of what has been written, but for those that wait for the end of the transaction.
    async fn look_at_keys(
        &self,
        transaction: &mut DistributedTransaction,
        wait: &ShortWait<'_>,
    ) -> Result<()> {
        match self.is_watched {
            true => integrity::settle(&wait.frame(), transaction).await,
            false => Ok(()),
        }
    }

    pub(super) async fn write(
        &self,
        store: &Arc<Store>,
        catalog: &Arc<Catalog>,
        given: Given<'_>,
        wait: &mut ShortWait<'_>,
    ) -> Result<Option<Outcome>> {
        if let Some(peers) = store.peers()
            && self.is_for_owner()
        {
            return self.write_at_owner(store, &**peers, catalog, given, wait).await;
        }
        for attempt in 0..RETRIES {
            let mut transaction = store.begin_distributed().await?;
            if !Arc::ptr_eq(transaction.catalog(), catalog) {
                return Ok(None);
            }
            if wait.waiting.validates {
                transaction.validate_reads();
            }
            // Without locks as long as nobody has any of these rows: who comes second tries again at once.
            let is_free = attempt == 0 && !self.locks_first();
            let mut done =
                if is_free || (attempt < OPTIMISTIC && !self.meets_locks(store, given)?) {
                    self.execute_in(&mut transaction, given).await
                } else {
                    transaction.lock_rows(wait.waiting.party, wait.waiting.patience);
                    self.execute_waiting(&mut transaction, given, wait).await
                };
            if self.is_watched && matches!(done, Ok(Some(_))) {
                let settled = integrity::settle_all(&wait.frame(), &mut transaction).await;
                done = settled.and(done);
            }
            let outcome = match done {
                // It holds nothing from before, and may begin anew without its client.
                Err(error) if error.is_retryable() || is_deadlock(&error) => continue,
                done => done?,
            };
            let Some(outcome) = outcome else { return Ok(None) };
            match transaction.commit().await {
                Ok(_) => return Ok(Some(outcome)),
                Err(error) if error.is_retryable() => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(None)
    }

    /// Whether another transaction has locked a row that the statement writes, or may have: it is not known which are.
    fn meets_locks(&self, store: &Store, given: Given<'_>) -> Result<bool> {
        let Some(changes) = self.changes(given)? else { return Ok(true) };
        Ok(changes.iter().any(|change| store.is_locked(change.table.id, &change.key)))
    }

    /// Writes a single row at its owner: this server or another one.
    async fn write_at_owner(
        &self,
        store: &Arc<Store>,
        peers: &dyn Peers,
        catalog: &Arc<Catalog>,
        given: Given<'_>,
        wait: &mut ShortWait<'_>,
    ) -> Result<Option<Outcome>> {
        let Some(change) = self.changes(given)?.and_then(|mut changes| changes.pop()) else {
            return Ok(None);
        };
        let mut operation = None;
        for attempt in 0..RETRIES_AT_OWNER {
            let result = match store.begin_newest(peers, self.table.id, &change.key).await? {
                Some(transaction) if !Arc::ptr_eq(transaction.catalog(), catalog) => {
                    return Ok(None);
                }
                Some(transaction) if attempt == 0 => change.commit(transaction).await,
                Some(mut transaction) => {
                    transaction.lock_rows(wait.waiting.party, wait.waiting.patience);
                    match self.execute_waiting(&mut transaction, given, wait).await {
                        Ok(None) => return Ok(None),
                        Ok(Some(outcome)) => match transaction.commit().await {
                            Ok(_) => return Ok(Some(outcome)),
                            Err(error) => Err(error.into()),
                        },
                        Err(error) => Err(error),
                    }
                }
                None => {
                    if operation.is_none() {
                        operation = operation::to_bytes(&change, self.form())?;
                    }
                    let Some(operation) = operation.clone() else { return Ok(None) };
                    let result = peers.row_operation(&self.table, &change.key, operation).await;
                    if let Err(store::Error::SchemaConflict { .. }) = result {
                        return Ok(None);
                    }
                    result.map_err(Into::into)
                }
            };
            match result {
                Err(error) if error.is_retryable() || is_deadlock(&error) => {
                    tokio::task::yield_now().await;
                }
                result => {
                    let changed = Changed { count: result?, rows: Vec::new() };
                    return self.done(changed).map(Some);
                }
            }
        }
        Ok(None)
    }

    /// Whether the owner of the row can execute the statement: it writes one row, returns nothing, and needs no other row.
    fn is_for_owner(&self) -> bool {
        let is_of_one_row = match &self.action {
            Action::Insert(insertion) => insertion.rows.len() == 1,
            _ => true,
        };
        is_of_one_row && self.returning.is_none() && !self.is_watched
    }
}
