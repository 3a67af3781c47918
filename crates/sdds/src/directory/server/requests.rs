//! Handling of requests: the parts with keys owned here are served, the rest is forwarded (A2).

use super::route::{Page, Step};
use super::{Effect, Server};
use crate::directory::{Entry, Message, Reply, Request};
use crate::{ClientId, GroupId, KeyRange, RequestId};

impl<O: Clone> Server<O> {
    pub(super) fn on_request(&mut self, request: Request<O>, effects: &mut Vec<Effect<O>>) {
        if request.forwards == 0 && self.rows.owns(&request.range) {
            effects.push(Effect::Serve(request));
            return;
        }
        if let Some((tile, epoch)) = self.rows.owner_of(&request.range) {
            effects.push(serve(request, self.entry(tile, epoch)));
            return;
        }
        // The entries of a page are included once, even if several parts use it.
        let mut told: Option<KeyRange> = None;
        for (range, step) in self.route(&request.range) {
            let part = Request { range, adjustment: Vec::new(), ..request.clone() };
            match step {
                Step::Here(entry) => effects.push(serve(part, entry)),
                Step::Wait => self.waiting.push(Message::Request(part)),
                Step::To(group) => effects.push(self.forward(part, group)),
                Step::Listed(group, page) => {
                    let adjustment = neighbourhood(&page, &mut told);
                    effects.push(self.forward(Request { adjustment, ..part }, group));
                }
            }
        }
    }

    /// Reports the owners of a range. Every group answers, so that the client knows when it has all
    /// answers: the keys owned here, those given away recently, and those listed in its pages. The
    /// root group adds the other groups to ask. Because the directory failed this client, its
    /// records are sent again, too.
    pub(super) fn on_ask(
        &mut self,
        id: RequestId,
        client: ClientId,
        asked: KeyRange,
        effects: &mut Vec<Effect<O>>,
    ) {
        let ours = self.rows.owned(&asked).into_iter();
        let mut entries: Vec<Entry> = ours.map(|(range, epoch)| self.entry(range, epoch)).collect();
        for entry in entries.clone() {
            self.on_record(entry, self.group, effects);
        }
        entries.extend(self.rows.given(&asked));
        for (part, step) in self.route_to_pages(&asked) {
            if let Step::Listed(_, page) = step {
                entries.extend(page.entries.cover(&part));
            }
        }
        let is_root = self.root.group() == self.group;
        let groups = if is_root { self.root.groups().collect() } else { Vec::new() };
        effects
            .push(Effect::Reply { to: client, reply: Reply::Owned { id, asked, entries, groups } });
    }

    /// The reply for a part that cannot be forwarded.
    pub(super) fn lost(&self, request: Request<O>) -> Effect<O> {
        let groups = self.root.groups().collect();
        let Request { id, client, range, .. } = request;
        Effect::Reply { to: client, reply: Reply::Lost { id, range, groups } }
    }

    fn forward(&self, request: Request<O>, to: GroupId) -> Effect<O> {
        if request.forwards >= self.settings.forwards_max {
            return self.lost(request);
        }
        let request = Request { forwards: request.forwards + 1, ..request };
        Effect::Send { to, message: Message::Request(request) }
    }
}

/// Serves a part with keys owned here. The client learns the owner if the request was forwarded.
fn serve<O>(mut request: Request<O>, ours: Entry) -> Effect<O> {
    if request.forwards > 0 {
        request.adjustment.push(ours);
    }
    Effect::Serve(request)
}

/// The entries of a page for an adjustment; all of them the first time.
fn neighbourhood(page: &Page, told: &mut Option<KeyRange>) -> Vec<Entry> {
    if told.as_ref() == Some(&page.range) {
        return Vec::new();
    }
    *told = Some(page.range.clone());
    page.entries.cover(&page.range)
}
