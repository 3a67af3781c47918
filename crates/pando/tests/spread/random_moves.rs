//! Moves buckets between servers in a deterministic pseudo-random order.

use cluster::Cluster;
use pando::catalog::Relation;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::task::JoinHandle;
use workloads::InProcess;

/// Moves buckets of every table and every index until it is dropped.
pub(crate) struct RandomMoves {
    tasks: Vec<JoinHandle<()>>,
    moves: Arc<AtomicU64>,
}

impl Drop for RandomMoves {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

impl RandomMoves {
    /// Starts to move buckets.
    pub(crate) fn over(servers: &InProcess) -> Self {
        let moves = Arc::new(AtomicU64::new(0));
        let each = servers.servers().iter().map(|server| {
            let (cluster, moves) = (server.cluster.clone(), Arc::clone(&moves));
            tokio::spawn(async move { shuffle(&cluster, &moves).await })
        });
        Self { tasks: each.collect(), moves }
    }

    /// The number of moves so far.
    pub(crate) fn moves(&self) -> u64 {
        self.moves.load(Ordering::Relaxed)
    }
}

async fn shuffle(cluster: &Cluster, moves: &AtomicU64) {
    let mut dice = cluster.here().0;
    loop {
        let catalog = cluster.store().catalog();
        for relation in catalog.relations() {
            let file = match relation {
                Relation::Table(table) => table,
                Relation::Index(index) => &index.file,
                Relation::View(_) | Relation::Sequence(_) => continue,
            };
            if relation.is_temporary() {
                continue;
            }
            for bucket in cluster.store().bucket_infos(file.id) {
                dice = dice.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let servers = cluster.members().list.len() as u64;
                let to = sdds::GroupId((dice >> 33) % servers);
                if cluster.give(file.id, &bucket.range, to).await.is_ok() {
                    moves.fetch_add(1, Ordering::Relaxed);
                }
                tokio::task::yield_now().await;
            }
        }
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
}
