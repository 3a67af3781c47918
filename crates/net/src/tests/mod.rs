//! Tests: frames, one suite over all networks, and tests of single networks.

mod conversation;
mod encrypted;
mod frames;
mod golden;
mod links;
mod place;
mod talker;
mod wire;
