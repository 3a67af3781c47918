//! Many servers: how they talk, who is one of them, who owns which keys, transactions over several, and moves.

pub mod net;
