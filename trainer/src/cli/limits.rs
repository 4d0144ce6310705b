//! Values that flags accept, each with the text that says so.

use bytesize::ByteSize;

pub(super) fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err("give a whole number of at least 1".to_owned()),
    }
}

pub(super) fn seed(text: &str) -> Result<u64, String> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let wanted = || format!("give a whole number from 0 to {}", u64::MAX);
    text.parse().ok().filter(|_| digits).ok_or_else(wanted)
}

pub(super) fn rank(text: &str) -> Result<usize, String> {
    let wanted = "give a whole number from 1 to 1024";
    positive(text).ok().filter(|&rank| rank <= 1024).ok_or_else(|| wanted.to_owned())
}

pub(super) fn above_zero(text: &str) -> Result<f64, String> {
    number(text, "give a number above 0", |number| number > 0.0)
}

pub(super) fn not_negative(text: &str) -> Result<f64, String> {
    number(text, "give a number of at least 0", |number| number >= 0.0)
}

pub(super) fn below_one(text: &str) -> Result<f64, String> {
    number(text, "give a number of at least 0 and below 1", |number| (0.0..1.0).contains(&number))
}

pub(super) fn probability(text: &str) -> Result<f64, String> {
    number(text, "give a number from 0 to 1", |number| (0.0..=1.0).contains(&number))
}

fn number(text: &str, wanted: &str, legal: impl Fn(f64) -> bool) -> Result<f64, String> {
    text.parse().ok().filter(|&number: &f64| number.is_finite() && legal(number)).ok_or_else(|| wanted.to_owned())
}

pub(super) fn bytes(text: &str) -> Result<ByteSize, String> {
    let size = text.parse::<ByteSize>().ok().filter(|size| size.as_u64() > 0);
    size.ok_or_else(|| "give a size above 0, such as 3GB or 2800MB".to_owned())
}
