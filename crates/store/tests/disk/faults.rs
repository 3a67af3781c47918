//! A scripted run of commits, loads and checkpoints with an error at each write and at each sync: what
//! was acknowledged is found again, and nothing that was not appended.

use super::*;
use futures::executor::block_on;
use journal::disk::Fault;
use sdds::Timestamp;

/// The states that a run goes through: after each commit that was acknowledged, and the one that was
/// not.
struct Run {
    acknowledged: String,
    /// The rows if the last commit was carried out, which failed.
    attempted: Option<BTreeMap<i64, String>>,
    rows: BTreeMap<i64, String>,
}

type Rows = BTreeMap<i64, String>;

/// Runs the script until an error.
fn run(disk: &MemoryDisk) -> Option<Run> {
    let Ok((store, _)) = try_open(disk) else { return None };
    let Ok(id) = create(&store, keyed("t")) else { return None };
    let mut run = Run { acknowledged: String::new(), attempted: None, rows: Rows::new() };
    for step in 0..12i64 {
        let text = format!("step {step}");
        let keys = [step, step + 100];
        let mut next = run.rows.clone();
        let done = match step % 4 {
            0 => {
                next.extend(keys.map(|key| (key, text.clone())));
                load(&store, id, &keys.map(|key| (key, text.as_str())))
            }
            1 => {
                next.extend(keys.map(|key| (key, text.clone())));
                upsert(&store, id, &keys.map(|key| (key, text.as_str())))
            }
            2 => {
                next.remove(&(step - 1));
                delete(&store, id, &[step - 1])
            }
            _ => store.checkpoint().map(drop),
        };
        if done.is_err() {
            run.attempted = Some(next);
            break;
        }
        run.rows = next;
    }
    run.acknowledged = format!("{:?}", run.rows);
    Some(run)
}

/// Checks what a crash leaves of a run.
fn check(left: &MemoryDisk, run: &Run, what: &str) {
    let store = open(left);
    let id = store.catalog().relation("public", "t").map(|table| TableId(table.id().0));
    let rows = found(&store, id.expect(what));
    assert!(rows == run.rows || Some(&rows) == run.attempted.as_ref(), "{what}: {rows:?}");
    upsert(&store, id.expect(what), &[(5000, "it goes on")]).expect(what);
    store.checkpoint().expect(what);
    drop(store);
    assert_eq!(found(&open(left), id.expect(what)).len(), rows.len() + 1, "{what}");
}

/// Runs with one fault; returns whether the run met it.
fn run_with(fault: Fault) -> bool {
    let disk = MemoryDisk::new();
    disk.plan(fault);
    let Some(run) = run(&disk) else { return true };
    for seed in 0..3 {
        check(&disk.crash(seed), &run, &format!("{fault:?}, crash {seed}"));
    }
    check(&disk.kill(), &run, &format!("{fault:?}, killed"));
    run.attempted.is_some()
}

#[test]
fn an_error_at_any_write_loses_nothing_that_was_acknowledged() {
    let met = (0..60).filter(|number| run_with(Fault::Write(*number))).count();
    assert!((15..60).contains(&met), "{met} runs met their fault");
}

#[test]
fn an_error_at_any_sync_loses_nothing_that_was_acknowledged() {
    let met = (0..120).filter(|number| run_with(Fault::Sync(*number))).count();
    assert!((30..120).contains(&met), "{met} runs met their fault");
}

/// The transaction was prepared when the log stopped, and its commit was acknowledged although the log had not taken it.
#[test]
fn a_prepared_commit_that_a_stopped_log_does_not_take_is_not_acknowledged() {
    let disk = MemoryDisk::new();
    let store = open(&disk);
    let id = create(&store, keyed("t")).expect("sound");
    let mut transaction = store.begin();
    transaction.upsert(id, &rows(&[(1, "one")])).expect("staged");
    let prepared = transaction.prepare().expect("alone").expect("writes");
    let left = disk.crash(1);
    upsert(&store, id, &[(2, "two")]).expect_err("the disk is gone");
    let told = block_on(prepared.commit(Timestamp(20)).wait());
    let Err(Error::Failed(failure)) = told else { panic!("acknowledged: {told:?}") };
    assert_eq!(failure.sql_state, "58030");
    assert_eq!(found(&open(&left), id), Rows::new());
}
