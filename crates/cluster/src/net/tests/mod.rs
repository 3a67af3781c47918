//! The network's tests: frames as bytes, one conversation over every network, and what only one of them has.

mod conversation;
mod encrypted;
mod frames;
mod links;
mod place;
mod speed;
mod talker;
mod wire;
