//! The loading side of COPY FROM STDIN.

use super::input::{Loaded, Piece, canceled};
use crate::context::Inner;
use crate::context::transactions::committed;
use crate::context::writes_nothing;
use crate::dml::firing_load::FiringLoad;
use crate::triggers;
use executor::Control;
use parser::client_copy::Options;
use scan::tables::Tables;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{Table, is_temporary_schema};
use table_rows::{Assembler, Assembly};
use tokio::sync::mpsc;
use values::error::{Result, SqlState};

impl Inner {
    /// Loads what comes until its end, in the open transaction or in one of its own.
    pub(crate) async fn copy_load(
        &self,
        text: &str,
        table: Arc<Table>,
        given: Vec<usize>,
        options: &Options,
        mut pieces: mpsc::Receiver<Piece>,
        control: &Control,
    ) -> Result<Loaded> {
        let mut conversation = self.conversation.lock().await;
        let work = async {
            conversation.refuse_if_failed()?;
            if self.settings.load().is_read_only() && !is_temporary_schema(&table.schema) {
                return Err(writes_nothing("COPY FROM"));
            }
            let waiting = self.waiting();
            if let Some(open) = conversation.statement(waiting).await? {
                let before = open.transaction.savepoint();
                let transaction = &mut open.transaction;
                let loaded =
                    self.copy_into(text, transaction, &table, &given, options, &mut pieces).await;
                if loaded.is_err() {
                    open.transaction.rollback_to(&before).await?;
                }
                return loaded;
            }
            let mut transaction = self.shared.store.begin_distributed().await?;
            if transaction.catalog().has_deferrable(table.id) {
                // Its rows cannot be sent again: what is checked has to wait for others.
                transaction.lock_rows(waiting.party, waiting.patience);
            }
            let loaded = self
                .copy_into(text, &mut transaction, &table, &given, options, &mut pieces)
                .await?;
            let frame = self.frame(&[], text);
            triggers::fire_all(&frame, &mut transaction).await?;
            self.settle_waiting(&frame, &mut transaction, waiting, true).await?;
            committed(transaction, control).await?;
            Ok(loaded)
        };
        let result = tokio::select! {
            biased;
            error = control.ended() => Err(error),
            loaded = work => loaded,
        };
        if result.is_err() {
            conversation.fail();
        }
        result
    }

    /// Loads what comes until its end, in a transaction.
    pub(crate) async fn copy_into(
        &self,
        text: &str,
        transaction: &mut DistributedTransaction,
        table: &Arc<Table>,
        given: &[usize],
        options: &Options,
        pieces: &mut mpsc::Receiver<Piece>,
    ) -> Result<Loaded> {
        let frame = self.frame(&[], text);
        self.context.see(transaction, &frame);
        let tables: &dyn Tables = transaction;
        let assembly = {
            let planner = frame.planner(tables);
            let assembly = Assembly::new(&planner, &self.shared.store, table, given)?;
            assembly.with_condition(&planner, options.condition.as_deref())?
        };
        let mut assembler = Assembler {
            assembly,
            ignore_errors: options.ignore_errors,
            reject_limit: options.reject_limit,
            rejected: 0,
            first_rejected: Vec::new(),
        };
        let mut part = transaction.ingest(table.id)?;
        let mut firing = FiringLoad::begin(&frame, transaction, table).await?;
        let mut fired = 0;
        loop {
            match pieces.recv().await {
                Some(Piece::Rows(batch, first_line)) => {
                    if let Some(load) = &mut firing {
                        for columns in assembler.unchecked(&batch, first_line)? {
                            let constraints = assembler.assembly.constraints();
                            fired += load.write(&frame, transaction, columns, constraints).await?;
                        }
                        continue;
                    }
                    for rows in assembler.assemble(&batch, first_line)? {
                        part.append(rows)?;
                    }
                }
                Some(Piece::End) => break,
                None => return Err(canceled()),
            }
        }
        if assembler.rejected > 0 {
            let message = format!(
                "{} rows were skipped due to data type incompatibility",
                assembler.rejected
            );
            self.notice_with(
                SqlState::SuccessfulCompletion,
                message,
                assembler.first_rejected.join("; "),
            );
        }
        let rows = match firing {
            Some(load) => {
                load.finish(&frame);
                fired
            }
            None => transaction.finish_ingest(table.id, vec![part]).await?,
        };
        self.settle_waiting(&frame, transaction, self.waiting(), false).await?;
        triggers::fire_after(&frame, transaction).await?;
        Ok(Loaded { rows })
    }
}
