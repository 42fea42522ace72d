//! Lists of growing numbers in few bytes.

use crate::failure::Failure;

/// Packs lists of numbers; in each, the next is rarely smaller than the one before.
pub(crate) fn pack(lists: &[Vec<u64>]) -> Vec<u8> {
    let mut out = Vec::new();
    put(lists.len() as u64, &mut out);
    for list in lists {
        put(list.len() as u64, &mut out);
        let mut last = 0_u64;
        for &number in list {
            put(number.wrapping_sub(last), &mut out);
            last = number;
        }
    }
    out
}

/// What [`pack`] packed.
pub(crate) fn unpack(mut bytes: &[u8]) -> Result<Vec<Vec<u64>>, Failure> {
    let mut lists = Vec::new();
    for _ in 0..take(&mut bytes)? {
        let mut list = Vec::new();
        let mut number = 0_u64;
        for _ in 0..take(&mut bytes)? {
            number = number.wrapping_add(take(&mut bytes)?);
            list.push(number);
        }
        lists.push(list);
    }
    Ok(lists)
}

pub(crate) fn put(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

pub(crate) fn take(bytes: &mut &[u8]) -> Result<u64, Failure> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first().ok_or(Failure::Ruined)?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(number);
        }
    }
    Err(Failure::Ruined)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_as_they_were() {
        let lists = vec![vec![], vec![0, 5, 5, 1 << 40, u64::MAX, 3], vec![7; 300]];
        assert_eq!(unpack(&pack(&lists)).unwrap(), lists);
        let packed = pack(&lists);
        assert!((0..packed.len()).all(|cut| unpack(&packed[..cut]).is_err()));
    }
}
