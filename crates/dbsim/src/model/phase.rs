//! Phases as flows through the stations of an architecture.
//!
//! A site's share of a phase is one flow: each chunk is read, crosses the interconnect, spills and is computed on. A chunk
//! stands for many pages, of which it takes the time; there are at most [`CHUNKS_MAX`] of them, so that a table of any
//! size takes as long to simulate.

use super::exchange::Exchange;
use super::machine::{Machine, Phase, Site};
use super::work::{Place, Work};
use crate::engine::{Arrivals, Category, Flow, FlowId, Step, Time};
use crate::hardware::Access;

/// Chunks of a site's share at most.
const CHUNKS_MAX: usize = 256;
/// Bytes that a chunk stands for, where there are fewer chunks.
const CHUNK_BYTES: f64 = 64.0 * 1024.0;
/// Chunks for each core at least, so that cores end together.
const CHUNKS_PER_CORE: usize = 8;
/// Pages that lie together where something was spilled.
const EXTENT_PAGES: f64 = 64.0;
/// Where spilled data begins on a disk, as a part of it: in the middle.
const SPILL_PLACE: f64 = 0.5;
/// The part of a disk that spilled data covers.
const SPILL_SPAN: f64 = 0.1;

/// What a chunk reads or writes of one category.
#[derive(Debug, Clone, Copy)]
struct Transfer {
    category: Category,
    pages: f64,
    /// Arm movements to a random place; 0 for sequential access.
    positionings: f64,
    /// Where on the disk the data begins, from 0 (outer edge) to 1.
    place: f64,
    /// The part of the disk that the data covers.
    span: f64,
}

impl Machine<'_> {
    /// Adds a phase after all that there are.
    pub(super) fn phase(&mut self, bundle: usize, place: Place, work: &Work, exchange: &Exchange) {
        let before = self.phases.last().map(|phase| phase.end);
        let begin = self.network.flow(Flow::barrier(before.into_iter().collect()));
        let sites = self.sites_of(place);
        let share = work.times(1.0 / sites.len() as f64);
        let shares: Vec<_> =
            sites.iter().map(|site| (*site, self.share(*site, &share, begin))).collect();
        let computed = shares.iter().map(|(_, flow)| *flow).collect();
        let computed = self.network.flow(Flow::barrier(computed));
        let end = self.exchange(exchange, computed);
        self.phases.push(Phase { bundle, begin, shares, computed, end, times: 1.0 });
    }

    fn share(&mut self, site: usize, work: &Work, after: FlowId) -> FlowId {
        let Site { processor, cores, .. } = self.sites[site].clone();
        let page_bytes = self.architecture.page_bytes();
        let bytes = work.read + work.fetched * page_bytes + work.spilled + work.unspilled;
        let least = if processor.cores == 1 { 1 } else { CHUNKS_PER_CORE * processor.cores };
        let chunks = ((bytes / CHUNK_BYTES).ceil() as usize).clamp(least, CHUNKS_MAX.max(least));
        let chunk = work.times(1.0 / chunks as f64);
        let pages = (chunk.read + chunk.spilled + chunk.unspilled) / page_bytes + chunk.fetched;
        // Memory is read in place: nothing is asked of anybody.
        let requested = if self.architecture.site.disk.is_some() { pages } else { 0.0 };
        let requests = self.coefficients.request.cycles(requested, requested * page_bytes);
        let mut steps = self.storage(site, &chunk, chunks);
        steps.push(Step::Serve {
            station: cores,
            time: Time::from_seconds(processor.seconds(chunk.cycles + requests)),
            category: Category::Compute,
        });
        let window = self.architecture.outstanding.max(processor.cores);
        let arrivals = Arrivals::Window(window);
        self.network.flow(Flow { after: vec![after], chunks, arrivals, steps })
    }

    /// What a chunk reads and writes.
    fn storage(&self, site: usize, chunk: &Work, chunks: usize) -> Vec<Step> {
        let page_bytes = self.architecture.page_bytes();
        let spilled = (chunk.spilled + chunk.unspilled) / page_bytes;
        let io = Transfer {
            category: Category::Io,
            pages: chunk.read / page_bytes,
            positionings: 0.0,
            place: 0.0,
            span: 1.0,
        };
        let fetched = Transfer { pages: chunk.fetched, positionings: chunk.fetched, ..io };
        let spill = Transfer {
            category: Category::Spill,
            pages: spilled,
            positionings: spilled / EXTENT_PAGES,
            place: SPILL_PLACE,
            span: SPILL_SPAN,
        };
        let transfers = [io, fetched, spill].into_iter().filter(|transfer| transfer.pages > 0.0);
        let mut steps = Vec::new();
        for Transfer { category, pages, positionings, place, span } in transfers {
            match self.architecture.site.disk {
                Some(disk) => {
                    let disks = self.architecture.site.disks;
                    let held = pages * page_bytes * chunks as f64 / disks as f64;
                    let covered = (held / (disk.capacity_gb * 1e9)).min(1.0);
                    let span = if positionings > 0.0 { span } else { covered };
                    let access = Access {
                        pages,
                        page_kb: self.architecture.page_kb,
                        positionings,
                        place,
                        span,
                    };
                    steps.push(Step::Disk {
                        first: self.sites[site].disks,
                        disks,
                        access,
                        category,
                    });
                    steps.extend(self.interconnect(site, pages, category));
                }
                None => steps.push(self.memory(site, pages * page_bytes, category)),
            }
        }
        steps
    }

    fn interconnect(&self, site: usize, pages: f64, category: Category) -> Option<Step> {
        let interconnect = self.architecture.site.interconnect?;
        let time = Time::from_seconds(interconnect.seconds(pages, self.architecture.page_bytes()));
        Some(Step::Serve { station: self.sites[site].interconnect, time, category })
    }

    fn memory(&self, site: usize, bytes: f64, category: Category) -> Step {
        let bus = self.architecture.site.bus.map(|bus| bus.seconds(bytes));
        let pool = self.architecture.site.pool.map(|pool| pool.seconds(bytes));
        let time = Time::from_seconds(bus.or(pool).unwrap_or(0.0));
        Step::Serve { station: self.sites[site].memory, time, category }
    }
}
