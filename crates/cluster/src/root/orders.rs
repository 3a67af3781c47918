//! Balancing: which server should give how much of which table to which other server.

use super::Root;
use crate::membership::{Member, Members, ServerLoad};
use messages::MoveOrder;
use protocols::membership::Roster;
use sdds::ServerId;
use sdds::balancing::{Proposal, Share, Sizes, propose};
use store::catalog::{Catalog, TableId};

/// Maximum number of orders in the answer to a heartbeat.
const ORDERS_MAX: usize = 8;

impl Root {
    /// The moves that a server should make, largest first: it carries out the first order for which
    /// it finds something. Colocated tables are left out: they follow other tables.
    pub(super) fn orders(
        &self,
        roster: &Roster<ServerLoad>,
        server: ServerId,
        catalog: &Catalog,
    ) -> Vec<MoveOrder> {
        let members = roster.list();
        let Some(own) = roster.load(server) else { return Vec::new() };
        let mut orders: Vec<MoveOrder> = Vec::new();
        let follows = |id| catalog.table_by_id(id).is_some_and(|t| catalog.colocated(t).is_some());
        for load in own.tables.iter().filter(|load| !follows(load.table)) {
            let shares: Vec<Share> =
                members.present().map(|m| share(roster, m, load.table)).collect();
            // Buckets of a growing table are three quarters full on average.
            let usual = load.bucket_size / 4 * 3;
            let bucket = (load.bytes / load.buckets.max(1)).min(usual).max(1);
            let proposal = propose(&shares, bucket, load.bucket_size);
            let proposal = proposal.filter(|proposal| members.leader_of(proposal.from) == server);
            let Some(proposal) = proposal else { continue };
            orders.push(MoveOrder {
                table: load.table,
                to: proposal.to,
                size_max: proposal.size_max,
                sizes: proposal.sizes,
                reason: reason(members, &shares, &proposal),
            });
        }
        orders.sort_by_key(|order| std::cmp::Reverse(order.size_max));
        orders.truncate(ORDERS_MAX);
        orders
    }
}

/// A member's share of a table, as of its last heartbeat.
fn share(roster: &Roster<ServerLoad>, member: &Member, table: TableId) -> Share {
    let load = roster.load(member.server);
    let of_table = load.and_then(|load| load.tables.iter().find(|held| held.table == table));
    // A draining server moves buckets without rows, too: their keys need an owner.
    let least = of_table.filter(|_| member.weight == 0).map_or(0, |held| held.buckets);
    Share {
        group: roster.list().group_of(member.server),
        bytes: of_table.map_or(0, |held| held.bytes).max(least),
        accesses: of_table.map_or(0, |held| held.accesses),
        weight: member.weight,
    }
}

fn reason(members: &Members, shares: &[Share], proposal: &Proposal) -> String {
    let share = |group| shares.iter().find(|share| share.group == group);
    let (from, to) = (share(proposal.from), share(proposal.to));
    let bytes = |share: Option<&Share>| share.map_or(0, |share| share.bytes);
    let accesses = |share: Option<&Share>| share.map_or(0, |share| share.accesses);
    let (here, there) = (bytes(from), bytes(to));
    if members.get(members.leader_of(proposal.from)).is_some_and(|member| member.weight == 0) {
        return format!("draining the server; {here} bytes are left");
    }
    if proposal.sizes == Sizes::default() {
        return format!("{here} bytes here, {there} there");
    }
    let (often, less) = (accesses(from), accesses(to));
    format!("{here} bytes and {often} accesses per second here, {there} and {less} there")
}
