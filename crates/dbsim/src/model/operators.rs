//! What each operator asks of the sites, and where a plan falls into phases.
//!
//! A [`Stream`] is what an operator hands on, with the work that has still to be done for it: operators of a bundle add
//! theirs and the rows flow through. Phases end where rows are exchanged, where a sort has to see all of them, and where a bundle
//! ends. A sort leaves sorted runs, and whoever reads them merges: so it makes no difference to a sort's rows whether
//! the operator above is in the same bundle.

use super::exchange::Exchange;
use super::machine::Machine;
use super::work::{Place, Work};
use crate::coefficients::{Chosen, comparisons};
use crate::plan::{Bundle, Kind, OperatorId, Plan, Task, Term};
use crate::{Architecture, Coefficients};
use std::mem;

/// Bytes that a row of a hash table takes beside its own.
const HASH_ENTRY_BYTES: f64 = 16.0;
/// Partial groups of a site up to which they are sent to the coordinator; more are dealt out.
const GATHERED_ROWS_MAX: f64 = 10_000.0;
/// Pages of each run that a merge has in memory.
const MERGE_PAGES: f64 = 8.0;

/// Rows of all sites on their way to the next operator.
#[derive(Debug, Clone, Copy)]
struct Stream {
    work: Work,
    rows: f64,
    row_bytes: f64,
    place: Place,
}

impl Stream {
    fn bytes(&self) -> f64 {
        self.rows * self.row_bytes
    }
}

/// Goes through a plan and adds phases to a machine.
pub(super) struct Compiler<'a> {
    plan: &'a Plan,
    costs: &'a Coefficients,
    machine: Machine<'a>,
    /// The bundle of each operator.
    bundle_of: Vec<usize>,
    /// Whether a bundle was sent out.
    begun: Vec<bool>,
    /// Cycles of planning that are still to be spent.
    planning: f64,
    /// The join that has the table in which scans look for their rows.
    join_filter: Option<(OperatorId, f64)>,
}

/// Work with a hash table, in the order in which coefficients have its cycles.
#[derive(Debug, Clone, Copy)]
enum TableOperation {
    Build = 1,
    Probe,
    Find,
    ProbeInOrder,
    FindInOrder,
}

impl<'a> Compiler<'a> {
    pub(super) fn new(
        plan: &'a Plan,
        architecture: &'a Architecture,
        costs: &'a Coefficients,
        bundles: &[Bundle<OperatorId>],
        seed: u64,
    ) -> Self {
        let mut bundle_of = vec![0; plan.operators().len()];
        for (bundle, operators) in bundles.iter().enumerate() {
            operators.0.iter().for_each(|operator| bundle_of[*operator] = bundle);
        }
        let machine = Machine::new(architecture, costs, seed);
        Self {
            plan,
            costs,
            machine,
            bundle_of,
            begun: vec![false; bundles.len()],
            planning: costs.planning.cycles(plan),
            join_filter: None,
        }
    }

    /// All phases, up to the result at the coordinator.
    pub(super) fn compile(mut self) -> Machine<'a> {
        let root = self.plan.root();
        let result = self.stream(root);
        let cycles = self.costs.merge.cycles(result.rows, result.bytes());
        let gather = self.gather(&result, result.bytes(), cycles);
        self.phase(root, result.place, &result.work, &gather);
        self.machine
    }

    fn stream(&mut self, id: OperatorId) -> Stream {
        match self.plan.operators()[id].kind {
            Kind::SequentialScan => self.sequential_scan(id),
            Kind::IndexScan => self.index_scan(id),
            Kind::NestedLoopJoin => self.nested_loop_join(id),
            Kind::MergeJoin => self.merge_join(id),
            Kind::HashJoin => self.hash_join(id),
            Kind::Sort => self.sort(id),
            Kind::GroupBy => self.group_by(id),
            Kind::Aggregate => self.aggregate(id),
            Kind::Window => self.window(id),
            Kind::Union => self.union(id),
            Kind::Recursion => self.recursion(id),
            Kind::Values => self.values(id),
            Kind::Subquery => self.subquery(id),
        }
    }

    /// What an input hands on: as it comes from within the bundle, else put away and taken up again. A sort's runs lie where
    /// they were made in any case.
    fn input(&mut self, parent: OperatorId, child: OperatorId) -> Stream {
        let stream = self.stream(child);
        let within = self.bundle_of[parent] == self.bundle_of[child];
        if within || self.plan.operators()[child].kind == Kind::Sort {
            return stream;
        }
        let bytes = stream.bytes();
        let spilled = (bytes - self.memory() * self.count(stream.place)).max(0.0);
        let mut work = stream.work;
        work += Work { spilled, ..Work::cycles(self.costs.store.cycles(stream.rows, bytes)) };
        self.phase(child, stream.place, &work, &Exchange::Nothing);
        let load = self.costs.load.cycles(stream.rows, bytes);
        Stream { work: Work { unspilled: spilled, ..Work::cycles(load) }, ..stream }
    }

    fn sequential_scan(&self, id: OperatorId) -> Stream {
        let operator = &self.plan.operators()[id];
        // Engines that work on rows have nothing that tells them what they need not look at.
        let all = operator.table.as_ref().map_or(0.0, |table| table.rows);
        let rows = if self.costs.columnar { operator.rows_looked_at() } else { all };
        let whole = rows * self.stored_row_bytes(id);
        let columns = rows * operator.row_bytes.max(operator.read_row_bytes);
        let read = if self.costs.columnar { columns.min(whole) } else { whole };
        let row_bytes = operator.copied_row_bytes();
        let in_place = operator.in_place_rows.min(operator.rows);
        let copied = operator.rows - in_place;
        let chosen = Chosen {
            bytes: copied * row_bytes,
            seen: copied * operator.seen_row_bytes,
            rows: if operator.copied_columns > 1.0 { copied } else { 0.0 },
            part: copied / (rows - in_place).max(1.0),
            run: operator.run_rows,
        };
        let cycles = self.costs.scan.cycles(rows, 0.0)
            + self.costs.first_look * in_place * row_bytes
            + self.costs.of_copies(chosen)
            + self.costs.gather * operator.gathered_rows.min(copied) * row_bytes
            + self.pieces(id);
        self.output(id, Work { read, ..Work::cycles(cycles) })
    }

    fn index_scan(&self, id: OperatorId) -> Stream {
        let operator = &self.plan.operators()[id];
        let rows = operator.table.as_ref().map_or(0.0, |table| table.rows);
        let bytes = rows * self.stored_row_bytes(id);
        let pages = (bytes / self.machine.architecture.page_bytes()).ceil();
        let cycles = self.costs.index.cycles(operator.rows, operator.bytes()) + self.pieces(id);
        self.output(id, Work { fetched: operator.rows.min(pages), ..Work::cycles(cycles) })
    }

    /// Bytes of a row of a scan's table as it is stored.
    fn stored_row_bytes(&self, id: OperatorId) -> f64 {
        let table = self.plan.operators()[id].table.as_ref();
        table.map_or(0.0, |table| table.row_bytes + self.costs.row_header_bytes)
    }

    /// Cycles that go with a scan's pieces, however many rows are in them.
    fn pieces(&self, id: OperatorId) -> f64 {
        let operator = &self.plan.operators()[id];
        let of_term = |term: &Term| match term.task {
            Task::Search => self.costs.piece_search,
            Task::Find => self.costs.piece_find,
            Task::Choose => self.costs.piece_choice,
            Task::Among
            | Task::Pass
            | Task::Fetch
            | Task::Order
            | Task::Rank
            | Task::Running
            | Task::Moving => 0.0,
            _ => self.costs.piece_term,
        };
        let terms: f64 = operator.terms.iter().map(of_term).sum();
        let is_part = operator.rows < operator.rows_looked_at();
        let copied = operator.copied_columns * self.costs.piece_copied;
        let chosen = if is_part { self.costs.piece_chosen + copied } else { 0.0 };
        let columns = operator.columns * self.costs.piece_column;
        operator.pieces * (self.costs.piece + columns + chosen + terms)
    }

    /// Cycles of what an operator computes beside its own work.
    fn terms(&self, id: OperatorId) -> f64 {
        self.terms_of_sorted(id, self.plan.operators()[id].rows)
    }

    /// The same where so many rows are sorted together.
    fn terms_of_sorted(&self, id: OperatorId, sorted: f64) -> f64 {
        let operator = &self.plan.operators()[id];
        let find =
            if operator.ordered { TableOperation::FindInOrder } else { TableOperation::Find };
        let cycles = |term: &Term| {
            let table = self.join_filter.filter(|_| term.task == Task::Find);
            let far = table.map_or(0.0, |(join, rows)| self.table_cycles(join, rows, find));
            self.costs.of_term(term, sorted) + far * term.values
        };
        operator.terms.iter().map(cycles).sum()
    }

    /// The smaller table is replicated, kept in order and searched for each row of the larger. As often as it does not fit into
    /// memory the larger one is gone through again.
    fn nested_loop_join(&mut self, id: OperatorId) -> Stream {
        let (mut inner, outer) = self.inputs(id);
        let comparisons = outer.rows * (inner.rows.max(1.0).log2() + 1.0);
        let passes = (inner.bytes() / self.memory()).ceil().max(1.0);
        inner.work += Work::cycles(self.sorting(&inner));
        self.phase(id, inner.place, &inner.work, &self.replicate(&inner, outer.place));
        let mut work = outer.work.times(passes);
        work += Work::cycles(
            self.costs.nested_loop.cycles(comparisons, self.plan.operators()[id].bytes()),
        );
        Stream { place: outer.place, ..self.output(id, work) }
    }

    /// The smaller side is sorted, replicated and merged with each site's part of the larger. What is not in order is
    /// sorted first.
    fn merge_join(&mut self, id: OperatorId) -> Stream {
        let [small, large] = self.sides(id);
        let ordered = [small, large].map(|side| self.plan.operators()[side].ordered);
        let (mut inner, mut outer) = self.inputs(id);
        if !ordered[1] {
            outer = self.sorted(id, outer);
        }
        if !ordered[0] {
            inner.work += Work::cycles(self.sorting(&inner));
        }
        self.phase(id, inner.place, &inner.work, &self.replicate(&inner, outer.place));
        let copies = self.count(outer.place);
        let excess = (inner.bytes() - self.memory()).max(0.0) * copies;
        let joined = self.costs.merge.cycles(
            inner.rows * copies * copies.log2().max(1.0) + outer.rows,
            self.plan.operators()[id].bytes(),
        );
        let mut work = outer.work;
        work += Work { spilled: excess, unspilled: excess, ..Work::cycles(joined) };
        Stream { place: outer.place, ..self.output(id, work) }
    }

    /// The smaller side becomes a hash table, combined of the sites' own and sent to all (or both sides are dealt out by key); a
    /// part that does not fit into memory is put away on both sides, and joined later.
    fn hash_join(&mut self, id: OperatorId) -> Stream {
        let (mut build, mut probe) = self.inputs(id);
        let rows = build.rows;
        let sites = self.count(probe.place);
        let is_distributed = build.place == probe.place && sites > 1.0;
        let hash_partitions = self.machine.architecture.hash_partitions() && is_distributed;
        let table = build.bytes() + build.rows * HASH_ENTRY_BYTES;
        let built = self.costs.hash_build.cycles(rows, build.bytes())
            + rows * self.table_cycles(id, rows, TableOperation::Build);
        build.work += Work::cycles(built);
        let exchange = if hash_partitions {
            Exchange::HashPartition { bytes: build.bytes() }
        } else if is_distributed {
            Exchange::Combine { bytes: table, cycles: built }
        } else if sites > 1.0 {
            Exchange::Broadcast { bytes: table }
        } else {
            Exchange::Nothing
        };
        self.phase(id, build.place, &build.work, &exchange);
        if hash_partitions {
            self.phase(
                id,
                probe.place,
                &probe.work,
                &Exchange::HashPartition { bytes: probe.bytes() },
            );
            probe.work = Work::default();
        }
        let held = if hash_partitions { table / sites } else { table };
        let over = self.excess_part(held);
        let copies = if hash_partitions { 1.0 } else { sites };
        let rows_over = over * (build.rows * copies + probe.rows);
        let bytes_over = over * (table * copies + probe.bytes());
        let operator = &self.plan.operators()[id];
        let joined = operator.copied_bytes();
        let from_table = (operator.rows * operator.built_row_bytes).min(joined);
        let [_, large] = self.sides(id);
        let ordered = self.plan.operators()[large].ordered;
        let (look_up, copy) =
            if ordered { (TableOperation::ProbeInOrder, 2) } else { (TableOperation::Probe, 1) };
        let mut work = probe.work;
        work += Work {
            spilled: bytes_over,
            unspilled: bytes_over,
            cycles: self.costs.hash_probe.cycles(probe.rows, joined)
                + probe.rows * self.table_cycles(id, rows, look_up)
                + from_table * self.costs.hash_copies.cycles(copy, rows)
                + self.costs.store.cycles(rows_over, bytes_over)
                + self.costs.load.cycles(rows_over, bytes_over),
            ..Work::default()
        };
        Stream { place: probe.place, ..self.output(id, work) }
    }

    /// Cycles that a tuple costs with a join's table of so many rows, beside those that it costs with any.
    fn table_cycles(&self, join: OperatorId, rows: f64, work: TableOperation) -> f64 {
        let tables = if self.plan.operators()[join].close_keys {
            &self.costs.array_tables
        } else {
            &self.costs.hash_tables
        };
        tables.cycles(work as usize, rows)
    }

    fn sort(&mut self, id: OperatorId) -> Stream {
        let child = self.plan.operators()[id].children[0];
        let mut input = self.input(id, child);
        input.work += Work::cycles(self.terms_of_sorted(id, self.at_each_site(&input)));
        self.sorted(id, input)
    }

    /// Sorts at each site. What does not fit into memory is written as sorted runs, which the reader merges; of more than
    /// can be merged at once, some are merged before.
    fn sorted(&mut self, id: OperatorId, input: Stream) -> Stream {
        let (bytes, sites) = (input.bytes(), self.count(input.place));
        let mut work = input.work;
        work += Work::cycles(self.sorting(&input));
        let mut reading = Work::default();
        if bytes > self.memory() * sites {
            let runs = (bytes / sites / self.memory()).ceil();
            let fan =
                (self.memory() / (self.machine.architecture.page_bytes() * MERGE_PAGES)).max(2.0);
            let before = (runs.log(fan).ceil() - 1.0).max(0.0);
            work += Work { spilled: bytes, ..Work::default() };
            let merged = self.costs.load.cycles(input.rows, bytes)
                + self.costs.store.cycles(input.rows, bytes);
            work += Work { spilled: bytes, unspilled: bytes, ..Work::cycles(merged) }.times(before);
            let load = self.costs.load.cycles(input.rows, bytes);
            reading = Work { unspilled: bytes, ..Work::cycles(load) };
        }
        self.phase(id, input.place, &work, &Exchange::Nothing);
        Stream { work: reading, ..input }
    }

    /// Rows in order are compared with the one before; others are looked up among the groups.
    fn group_by(&mut self, id: OperatorId) -> Stream {
        let child = self.plan.operators()[id].children[0];
        let ordered = self.plan.operators()[child].ordered;
        let mut input = self.input(id, child);
        input.rows *= self.plan.operators()[id].times;
        let cost = if ordered { self.costs.group_ordered } else { self.costs.group };
        let compared = cost.cycles(input.rows, input.bytes());
        input.work += Work::cycles(compared + self.terms(id));
        input
    }

    /// Cycles beside an operator's own work, where it looks for the groups of so many rows and does not find them in order.
    fn looking_groups_up(&self, id: OperatorId, rows: f64, groups: f64) -> f64 {
        let operators = self.plan.operators();
        let by_group = &operators[id];
        if by_group.kind != Kind::GroupBy || operators[by_group.children[0]].ordered {
            return 0.0;
        }
        let [find, new] = self.costs.of_groups(groups, &by_group.terms);
        let begun = rows.min(groups);
        (rows - begun) * find + begun * new
    }

    /// Each site makes its partial groups; few are combined at the coordinator, many are dealt out and combined everywhere.
    fn aggregate(&mut self, id: OperatorId) -> Stream {
        let operator = &self.plan.operators()[id];
        let (child, functions, groups) = (operator.children[0], operator.functions, operator.rows);
        let row_bytes = operator.row_bytes;
        let mut input = self.input(id, child);
        let values = input.rows * functions;
        let is_of_all = groups <= 1.0 && self.plan.operators()[child].kind != Kind::GroupBy;
        let of_all = self.costs.aggregate_all.filter(|_| is_of_all);
        let added = of_all.unwrap_or(self.costs.aggregate).cycles(values, input.bytes());
        let looked_up = self.looking_groups_up(child, input.rows, groups);
        input.work += Work::cycles(added + looked_up + self.terms(id));
        let sites = self.count(input.place);
        let partial = Stream { rows: input.rows.min(groups * sites), row_bytes, ..input };
        let done = Stream { rows: groups, ..partial };
        if sites == 1.0 {
            return done;
        }
        let combining = self.costs.group.cycles(partial.rows, partial.bytes())
            + self.costs.aggregate.cycles(partial.rows * functions, partial.bytes());
        if partial.rows / sites > GATHERED_ROWS_MAX {
            let partition = Exchange::HashPartition { bytes: partial.bytes() };
            self.phase(id, partial.place, &partial.work, &partition);
            return Stream { work: Work::cycles(combining), ..done };
        }
        let gather = self.gather(&partial, done.bytes(), combining);
        self.phase(id, partial.place, &partial.work, &gather);
        Stream { work: Work::default(), place: Place::Coordinator, ..done }
    }

    /// Functions are computed of rows in order, each compared with the one before. Sites deal partitions out by key, each site's rows
    /// in order; without partitions the coordinator has all rows. Whoever receives rows merges them.
    fn window(&mut self, id: OperatorId) -> Stream {
        let plan = self.plan;
        let operator = &plan.operators()[id];
        let (child, functions) = (operator.children[0], operator.functions);
        let (row_bytes, partitions) = (operator.row_bytes, operator.partitions);
        let mut input = self.input(id, child);
        let sites = self.count(input.place);
        if sites > 1.0 {
            let merged = self.costs.merge.cycles(input.rows * sites.log2(), input.bytes());
            if partitions > 0.0 {
                let partition = Exchange::HashPartition { bytes: input.bytes() };
                self.phase(id, input.place, &input.work, &partition);
                input.work = Work::cycles(merged);
            } else {
                let gather = self.gather(&input, input.bytes(), merged);
                self.phase(id, input.place, &input.work, &gather);
                input = Stream { work: Work::default(), place: Place::Coordinator, ..input };
            }
        }
        let cycles = self.costs.group_ordered.cycles(input.rows, 0.0)
            + self.costs.aggregate.cycles(input.rows * functions, 0.0)
            + self.costs.window.cycles(operator, input.rows);
        input.work += Work::cycles(cycles + self.terms(id));
        Stream { row_bytes, ..input }
    }

    /// Rows stay where they are. The coordinator's, like those of few groups, count among the sites' if these have others.
    fn union(&mut self, id: OperatorId) -> Stream {
        let plan = self.plan;
        let operator = &plan.operators()[id];
        let inputs: Vec<Stream> =
            operator.children.iter().map(|child| self.input(id, *child)).collect();
        let at_sites = inputs.iter().any(|input| input.place == Place::Sites);
        let place = if at_sites { Place::Sites } else { Place::Coordinator };
        let mut work = Work::cycles(self.terms(id));
        let mut rows = 0.0;
        for input in inputs {
            rows += input.rows;
            if input.place == place {
                work += input.work;
            } else {
                self.phase(id, input.place, &input.work, &Exchange::Nothing);
            }
        }
        Stream { work, rows, row_bytes: operator.row_bytes, place }
    }

    /// One round after another, each of which takes up what the one before has made.
    fn recursion(&mut self, id: OperatorId) -> Stream {
        let operator = &self.plan.operators()[id];
        let (rows, row_bytes, times) = (operator.rows, operator.row_bytes, operator.times);
        let [first, again] = [operator.children[0], operator.children[1]];
        let begun = self.input(id, first);
        self.phase(id, begun.place, &begun.work, &Exchange::Nothing);
        self.repeated(times, |this| {
            let round = this.input(id, again);
            this.phase(id, round.place, &round.work, &Exchange::Nothing);
        });
        Stream { work: Work::cycles(self.terms(id)), rows, row_bytes, place: begun.place }
    }

    /// The coordinator plans a statement and has it run, for one row after another: nobody else has anything to do meanwhile.
    fn subquery(&mut self, id: OperatorId) -> Stream {
        let operator = &self.plan.operators()[id];
        let (rows, row_bytes, times) = (operator.rows, operator.row_bytes, operator.times);
        let [around, within] = [operator.children[0], operator.children[1]];
        let outer = self.input(id, around);
        let gather = self.gather(&outer, outer.bytes(), 0.0);
        self.phase(id, outer.place, &outer.work, &gather);
        let planning = Work::cycles(self.costs.planning.cycles_of(self.plan, within));
        let above = self.join_filter.take();
        self.repeated(times, |this| {
            // A bundle of its own is sent out anyway.
            let is_sent =
                this.machine.sites.len() > 1 && this.bundle_of[within] == this.bundle_of[id];
            let sent = if is_sent { Exchange::Dispatch } else { Exchange::Nothing };
            this.phase(id, Place::Coordinator, &planning, &sent);
            let answer = this.input(id, within);
            let gather = this.gather(&answer, answer.bytes(), 0.0);
            this.phase(id, answer.place, &answer.work, &gather);
        });
        self.join_filter = above;
        let work = Work::cycles(self.terms(id));
        Stream { work, rows, row_bytes, place: Place::Coordinator }
    }

    /// What takes place so often, the first time in a bundle with sending this out.
    fn repeated(&mut self, times: f64, once: impl FnOnce(&mut Self)) {
        let first = self.machine.phases.len();
        once(self);
        self.machine.phases[first..].iter_mut().for_each(|phase| phase.times *= times);
    }

    /// Rows of no table are made at the coordinator.
    fn values(&self, id: OperatorId) -> Stream {
        let operator = &self.plan.operators()[id];
        let cycles = self.costs.scan.cycles(operator.rows, operator.copied_bytes());
        Stream { place: Place::Coordinator, ..self.output(id, Work::cycles(cycles)) }
    }

    /// The smaller and the larger input of a join: at one place, unless only the smaller one is at the coordinator, who sends it to all.
    fn inputs(&mut self, id: OperatorId) -> (Stream, Stream) {
        let [small, large] = self.sides(id);
        let operators = self.plan.operators();
        let above = self.join_filter;
        if operators[id].kind == Kind::HashJoin {
            self.join_filter = Some((id, operators[small].rows));
        }
        let large = self.input(id, large);
        self.join_filter = above;
        let small = self.input(id, small);
        if small.place == large.place || large.place == Place::Sites {
            return (small, large);
        }
        (self.at_coordinator(id, small), self.at_coordinator(id, large))
    }

    fn at_coordinator(&mut self, id: OperatorId, stream: Stream) -> Stream {
        if stream.place == Place::Coordinator {
            return stream;
        }
        let gather = self.gather(&stream, stream.bytes(), 0.0);
        self.phase(id, stream.place, &stream.work, &gather);
        Stream { work: Work::default(), place: Place::Coordinator, ..stream }
    }

    fn sides(&self, id: OperatorId) -> [OperatorId; 2] {
        let operators = self.plan.operators();
        let (first, second) = (operators[id].children[0], operators[id].children[1]);
        if operators[id].builds_first || operators[first].bytes() <= operators[second].bytes() {
            [first, second]
        } else {
            [second, first]
        }
    }

    /// What an operator hands on, after work and what it computes.
    fn output(&self, id: OperatorId, mut work: Work) -> Stream {
        let operator = &self.plan.operators()[id];
        work += Work::cycles(self.terms(id));
        let (rows, row_bytes) = (operator.rows, operator.row_bytes);
        Stream { work, rows, row_bytes, place: Place::Sites }
    }

    /// Cycles of sorting at each site, `n log2 n` comparisons.
    fn sorting(&self, stream: &Stream) -> f64 {
        let each = self.at_each_site(stream);
        let comparisons = stream.rows * comparisons(each);
        let order_cycles = comparisons * self.costs.order.cycles(1, each);
        self.costs.sort.cycles(comparisons, stream.bytes()) + order_cycles
    }

    /// Rows of each site.
    fn at_each_site(&self, stream: &Stream) -> f64 {
        stream.rows / self.count(stream.place)
    }

    /// Everything goes to wherever the rows are that are joined with it.
    fn replicate(&self, stream: &Stream, to: Place) -> Exchange {
        let bytes = stream.bytes();
        match (stream.place, to) {
            _ if self.count(to) == 1.0 => Exchange::Nothing,
            (Place::Coordinator, Place::Sites) => Exchange::Broadcast { bytes },
            _ => Exchange::Replicate { bytes },
        }
    }

    /// To the coordinator, unless it is there.
    fn gather(&self, stream: &Stream, result_bytes: f64, cycles: f64) -> Exchange {
        let bytes = stream.bytes();
        let alone = self.machine.sites.len() == 1;
        if stream.place == Place::Coordinator || alone {
            return Exchange::Nothing;
        }
        let group_bytes = (bytes / self.machine.architecture.groups as f64).min(result_bytes);
        Exchange::Gather { bytes, group_bytes, cycles }
    }

    fn phase(&mut self, id: OperatorId, place: Place, work: &Work, exchange: &Exchange) {
        let bundle = self.bundle_of[id];
        if !self.begun[bundle] {
            self.begun[bundle] = true;
            let planning = mem::take(&mut self.planning);
            if planning > 0.0 {
                let work = Work::cycles(planning);
                self.machine.phase(bundle, Place::Coordinator, &work, &Exchange::Nothing);
            }
            let sites = self.count(place);
            let begin = Work::cycles(self.costs.bundle * sites);
            let alone = self.machine.sites.len() == 1;
            let dispatch = if alone { Exchange::Nothing } else { Exchange::Dispatch };
            self.machine.phase(bundle, place, &begin, &dispatch);
        }
        self.machine.phase(bundle, place, work, exchange);
    }

    /// The part of a site's state that does not fit into its memory.
    fn excess_part(&self, bytes: f64) -> f64 {
        if bytes > self.memory() { 1.0 - self.memory() / bytes } else { 0.0 }
    }

    fn memory(&self) -> f64 {
        self.machine.architecture.memory_bytes()
    }

    fn count(&self, place: Place) -> f64 {
        self.machine.sites_of(place).len() as f64
    }
}
