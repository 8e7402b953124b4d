//! Memory grows, moves, is shared and runs out.

use super::*;

#[test]
fn grows_in_place_within_its_reservation() {
    let mut memory = Memory::reserve(1 << 40).unwrap();
    let first = memory.as_ptr();
    for step in 1..=64usize {
        let len = step << 20;
        memory.ensure(len).unwrap();
        memory.set_len(len);
        memory.as_mut_slice::<u8>()[len - 1] = step as u8;
    }
    assert_eq!(memory.as_ptr(), first);
    assert_eq!(memory.as_slice::<u8>()[(7 << 20) - 1], 7);
    assert_eq!(memory.as_slice::<u8>()[7 << 20], 0, "fresh bytes are zero");
    memory.set_len(500_000);
    memory.trim();
    assert_eq!(memory.capacity(), round_to_pages(562_500).unwrap());
    assert_eq!(memory.as_ptr(), first);
}

#[test]
fn what_is_little_in_the_end_lies_on_the_heap() {
    let mut memory = Memory::reserve(1 << 30).unwrap();
    memory.set_len(5000);
    memory.as_mut_slice::<u8>()[4999] = 7;
    memory.trim();
    assert!(matches!(memory.home, Home::Heap(_)));
    assert_eq!(memory.capacity(), 5000);
    assert_eq!(memory.as_slice::<u8>()[4998..], [0, 7]);
}

#[test]
fn ensure_moves_beyond_the_reservation_and_keeps_the_bytes() {
    for mut memory in [
        Memory::zeroed(1000).unwrap(),
        Memory::zeroed(100_000).unwrap(),
        Memory::from((0..250).map(|_| 0i32).collect::<Vec<_>>()),
    ] {
        let len = memory.len();
        memory.as_mut_slice::<u8>()[len - 1] = 9;
        memory.ensure(50_000_000).unwrap();
        memory.set_len(50_000_000);
        assert_eq!(memory.as_slice::<u8>()[len - 1], 9);
        assert_eq!(memory.as_slice::<u8>()[len..].iter().max(), Some(&0));
    }
}

#[test]
fn exhaustion_is_an_error() {
    assert!(Memory::zeroed(usize::MAX / 2).is_err());
    assert!(Memory::zeroed(1 << 46).is_err());
    assert!(Memory::reserve(usize::MAX).is_err());
    let mut memory = Memory::zeroed(8).unwrap();
    memory.as_mut_slice::<u64>()[0] = 7;
    assert!(memory.ensure(usize::MAX).is_err());
    assert_eq!(memory.as_slice::<u64>(), [7]);
}

#[test]
fn takes_over_a_vector() {
    let mut vector = Vec::with_capacity(100);
    vector.extend([1.5, 2.5]);
    let at = vector.as_ptr();
    let memory = Memory::from(vector);
    assert_eq!(memory.as_slice::<f64>(), [1.5, 2.5]);
    assert_eq!(memory.as_ptr().cast(), at);
    assert_eq!(memory.clone(), memory);
    assert!(Memory::from(Vec::<f64>::new()).as_slice::<f64>().is_empty());
}

#[test]
fn foreign_bytes_are_read_in_place_and_copied_to_be_written() {
    let numbers = [7i64, 8, 9];
    // SAFETY: `numbers` lives to the end of the test.
    let borrowed = unsafe { Memory::borrowed(&numbers) };
    let owner = Arc::new(numbers.to_vec());
    let shared = Memory::shared::<i64, _>(Arc::clone(&owner));
    for (mut memory, at) in [(borrowed, numbers.as_ptr()), (shared, owner.as_ptr())] {
        assert_eq!(memory.as_ptr().cast(), at);
        assert!(memory.is_foreign());
        let clone = memory.clone();
        memory.as_mut_slice::<i64>()[1] = 0;
        assert_eq!(memory.as_slice::<i64>(), [7, 0, 9]);
        assert_eq!(clone.as_slice::<i64>(), numbers);
        assert!(!memory.is_foreign());
        let mut grown = clone;
        grown.ensure(1 << 20).unwrap();
        grown.set_len(32);
        assert_eq!(grown.as_slice::<i64>(), [7, 8, 9, 0]);
    }
    assert_eq!((numbers, &owner[..]), ([7, 8, 9], &[7, 8, 9][..]));
    assert_eq!(Arc::strong_count(&owner), 1, "the owner is let go");
}

#[test]
fn trimming_an_unused_reservation_frees_it() {
    let mut memory = Memory::reserve(1 << 30).unwrap();
    memory.trim();
    assert_eq!(memory.capacity(), 0);
    assert!(memory.as_slice::<f64>().is_empty());
}

#[test]
fn what_is_written_anyway_takes_pages_as_they_are() {
    // Another test may take the pages first.
    let found = (0..64).any(|_| {
        let mut used = Memory::zeroed(9 << 20).unwrap();
        used.as_mut_slice::<u8>().fill(7);
        drop(used);
        let again = Memory::for_writing(8 << 20).unwrap();
        assert_eq!(again.len(), 8 << 20);
        again.as_slice::<u8>()[(8 << 20) - 1] == 7
    });
    assert!(found);
}

#[test]
fn zeros_on_pages_that_were_given_back_are_zeros_to_the_end() {
    // Another test may take the pages first, and then the system clears new ones.
    for _ in 0..8 {
        let mut used = Memory::zeroed(3 << 16).unwrap();
        used.as_mut_slice::<u8>().fill(7);
        drop(used);
        let mut again = Memory::zeroed(2 << 16).unwrap();
        again.set_len(again.capacity());
        assert!(again.as_slice::<u8>().iter().all(|byte| *byte == 0));
    }
}
