//! A disk: an arm that seeks, platters that turn, and tracks that pass under the head.
//!
//! The seek time of a distance is Lee's three-point curve `least + a sqrt(x) + b x`, `x` the part of the full stroke, with
//! `a` and `b` such that the longest is right at `x = 1` and the mean over random pairs of places is the stated mean. A new
//! position costs a seek and on average half a rotation; a stream that goes on where it was costs neither. Zones: the
//! transfer rate falls evenly from the outer edge (where tables begin) to the inner.
//!
//! Not here: the queue before it ([`crate::engine::Station`]) and the bus behind it ([`super::Interconnect`]).

use super::field::{not_negative, positive};
use super::{KIB, MB};
use serde::Deserialize;

/// What a disk can do.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disk {
    /// How much it holds, in decimal gigabytes.
    #[serde(deserialize_with = "positive")]
    pub capacity_gb: f64,
    /// Seek times in milliseconds: from track to track, on average, from edge to edge. Zeros for what has no arm.
    pub seek_ms: Seek,
    /// Rotations a minute; 0 for what does not turn.
    #[serde(deserialize_with = "not_negative")]
    pub rpm: f64,
    /// Megabytes a second at the outer and at the inner edge: the same twice is a constant rate.
    pub transfer_mb_s: Transfer,
    /// What its controller takes for each request, in microseconds.
    #[serde(deserialize_with = "not_negative")]
    pub overhead_us: f64,
}

/// The three points of a seek curve, in milliseconds, ascending.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "[f64; 3]")]
pub struct Seek {
    /// To the next track.
    pub least: f64,
    /// On average over random pairs of places.
    pub mean: f64,
    /// From edge to edge.
    pub most: f64,
}

/// Transfer rates in MB/s, falling inwards.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "[f64; 2]")]
pub struct Transfer {
    /// At the outer edge.
    pub outer: f64,
    /// At the inner edge.
    pub inner: f64,
}

/// Where the arm is, and for which stream it went there.
#[derive(Debug, Clone, Copy, Default)]
pub struct Arm {
    at: f64,
    stream: Option<u64>,
}

/// What one request, or several that are simulated together, read or write.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Access {
    /// Pages, each a request of its own; parts of a page are its part of the time.
    pub pages: f64,
    /// KiB of a page.
    pub page_kb: f64,
    /// How often the arm goes to a random place of the stream; 0 where pages follow each other.
    pub positionings: f64,
    /// Where the stream begins: 0 is the outer edge, 1 the inner.
    pub place: f64,
    /// The part of the disk that the stream covers.
    pub span: f64,
}

impl TryFrom<[f64; 3]> for Seek {
    type Error = String;

    fn try_from([least, mean, most]: [f64; 3]) -> Result<Self, String> {
        let seek = Self { least, mean, most };
        let sensible = least >= 0.0 && least <= mean && mean <= most && most.is_finite();
        // A longer way never takes less: the slope at both ends is not negative.
        let (root, linear) = seek.curve();
        if sensible && root >= 0.0 && linear + root / 2.0 >= 0.0 {
            return Ok(seek);
        }
        Err(format!(
            "seek times {least}, {mean}, {most} must be the minimum, mean and maximum of a rising curve"
        ))
    }
}

impl TryFrom<[f64; 2]> for Transfer {
    type Error = String;

    fn try_from([outer, inner]: [f64; 2]) -> Result<Self, String> {
        if outer.is_finite() && inner > 0.0 && outer >= inner {
            return Ok(Self { outer, inner });
        }
        Err(format!(
            "transfer rates {outer}, {inner} must be greater than 0, and the outer one at least the inner"
        ))
    }
}

impl Seek {
    /// The factors of `sqrt(x)` and of `x`.
    fn curve(&self) -> (f64, f64) {
        let Self { least, mean, most } = self;
        let root = (-10.0 * least + 15.0 * mean - 5.0 * most) / 3.0;
        let linear = (7.0 * least - 15.0 * mean + 8.0 * most) / 3.0;
        (root, linear)
    }

    /// Seconds for a part of the full stroke.
    pub fn seconds(&self, distance: f64) -> f64 {
        if distance <= 0.0 {
            return 0.0;
        }
        let (root, linear) = self.curve();
        (self.least + root * distance.sqrt() + linear * distance) / 1e3
    }
}

impl Transfer {
    /// Bytes a second at a place.
    pub fn bytes_per_second(&self, at: f64) -> f64 {
        (self.outer + (self.inner - self.outer) * at.clamp(0.0, 1.0)) * MB
    }
}

/// Most random places that are drawn for one access; more are taken to cost as much on average.
const DRAWN_MAX: f64 = 64.0;

impl Disk {
    /// Seconds of a rotation.
    pub fn rotation(&self) -> f64 {
        if self.rpm > 0.0 { 60.0 / self.rpm } else { 0.0 }
    }

    /// Seconds that an access takes; the arm moves. `progress` is how far its stream has come (0 to 1), `unit` gives random
    /// numbers in `[0, 1)`.
    pub fn serve(
        &self,
        arm: &mut Arm,
        access: &Access,
        stream: u64,
        progress: f64,
        unit: &mut dyn FnMut() -> f64,
    ) -> f64 {
        let mut seconds = 0.0;
        if access.positionings > 0.0 {
            let drawn = access.positionings.min(DRAWN_MAX).ceil();
            for _ in 0..drawn as usize {
                seconds += self.position(arm, access.place + access.span * unit(), unit);
            }
            seconds *= access.positionings / drawn;
        } else {
            let place = access.place + access.span * progress;
            if arm.stream != Some(stream) {
                seconds += self.position(arm, place, unit);
            }
            arm.at = place;
        }
        arm.stream = Some(stream);
        let page = access.page_kb * KIB / self.transfer_mb_s.bytes_per_second(arm.at);
        seconds + access.pages * (self.overhead_us / 1e6 + page)
    }

    /// Seconds until the head is over a place.
    fn position(&self, arm: &mut Arm, place: f64, unit: &mut dyn FnMut() -> f64) -> f64 {
        let seek = self.seek_ms.seconds((place - arm.at).abs());
        arm.at = place;
        seek + self.rotation() * unit()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Random;

    /// The disk of the paper, at a constant rate.
    fn disk() -> Disk {
        Disk {
            capacity_gb: 36.0,
            seek_ms: Seek { least: 1.62, mean: 8.46, most: 21.77 },
            rpm: 10_000.0,
            transfer_mb_s: Transfer { outer: 25.0, inner: 25.0 },
            overhead_us: 100.0,
        }
    }

    fn access(pages: f64, positionings: f64) -> Access {
        Access { pages, page_kb: 8.0, positionings, place: 0.0, span: 1.0 }
    }

    #[test]
    fn the_seek_curve_goes_through_its_three_points() {
        let seek = disk().seek_ms;
        assert!((seek.seconds(1e-12) - 0.001_62).abs() < 1e-6);
        assert!((seek.seconds(1.0) - 0.021_77).abs() < 1e-9);
        assert_eq!(seek.seconds(0.0), 0.0, "no distance takes no time");
        // Two random places are x apart with density 2 (1 - x).
        const STEPS: usize = 100_000;
        let mean = |step: usize| {
            let x = (step as f64 + 0.5) / STEPS as f64;
            seek.seconds(x) * 2.0 * (1.0 - x) / STEPS as f64
        };
        let mean: f64 = (0..STEPS).map(mean).sum();
        assert!((mean - 0.008_46).abs() < 1e-6, "{mean}");
    }

    #[test]
    fn a_mean_random_access_is_a_mean_seek_half_a_rotation_and_the_transfer() {
        const ACCESSES: usize = 200_000;
        let (disk, mut arm, mut random) = (disk(), Arm::default(), Random::new(3));
        let mut unit = || random.unit();
        let access = access(1.0, 1.0);
        let total: f64 =
            (0..ACCESSES).map(|_| disk.serve(&mut arm, &access, 1, 0.0, &mut unit)).sum();
        let expected = 0.008_46 + 0.003 + 0.000_1 + 8192.0 / 25e6;
        let mean = total / ACCESSES as f64;
        assert!((mean / expected - 1.0).abs() < 0.005, "{mean} for {expected}");
    }

    #[test]
    fn many_random_pages_of_one_access_cost_as_much_as_one_by_one() {
        let (disk, mut arm, mut random) = (disk(), Arm::default(), Random::new(3));
        let mut unit = || random.unit();
        let access = access(10_000.0, 10_000.0);
        let total: f64 = (0..500).map(|_| disk.serve(&mut arm, &access, 1, 0.0, &mut unit)).sum();
        let mean = total / 5e6;
        let expected = 0.008_46 + 0.003 + 0.000_1 + 8192.0 / 25e6;
        assert!((mean / expected - 1.0).abs() < 0.01, "{mean} for {expected}");
    }

    #[test]
    fn a_stream_pays_for_its_place_once_and_again_when_another_was_there() {
        let (disk, mut arm) = (disk(), Arm::default());
        let mut unit = || 0.5;
        let page = 0.000_1 + 8192.0 / 25e6;
        let mut read = |stream, progress| {
            disk.serve(&mut arm, &access(10.0, 0.0), stream, progress, &mut unit)
        };
        assert!((read(1, 0.0) - (0.003 + 10.0 * page)).abs() < 1e-9, "half a rotation");
        assert!((read(1, 0.1) - 10.0 * page).abs() < 1e-9);
        let other = disk.seek_ms.seconds(0.4) + 0.003 + 10.0 * page;
        assert!((read(2, 0.5) - other).abs() < 1e-9);
        assert!((read(1, 0.1) - other).abs() < 1e-9);
    }

    #[test]
    fn zones_are_slower_inwards() {
        let zoned = Transfer { outer: 36.0, inner: 21.0 };
        assert_eq!(zoned.bytes_per_second(0.0), 36e6);
        assert_eq!(zoned.bytes_per_second(0.5), 28.5e6);
        assert_eq!(zoned.bytes_per_second(1.0), 21e6);
    }

    #[test]
    fn impossible_curves_are_refused() {
        for points in [[8.0, 1.0, 20.0], [-1.0, 1.0, 2.0], [0.0, 1.0, 20.0], [1.0, f64::NAN, 3.0]] {
            assert!(Seek::try_from(points).is_err(), "{points:?}");
        }
        assert!(Seek::try_from([0.0; 3]).is_ok(), "a drive without an arm");
        assert!(Transfer::try_from([20.0, 30.0]).is_err());
    }
}
