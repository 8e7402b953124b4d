//! The bits of coordinates are dealt as the functions `MORTON` and `ALTO` say.

use sparsec_base::Deal;
use sparsec_relation::{Environment, Relation, Set};

/// Keys are those of relations, grow with their coordinates, and give them back.
fn check(deal: &Deal, greatest: [u64; 3], key: &str) {
    let map = format!("{{[i, j, k] -> [key] : key = {key}}}");
    let map: Relation = map.parse().expect("a relation");
    for i in 0..=greatest[0] {
        for j in 0..=greatest[1] {
            for k in 0..=greatest[2] {
                let tuple = [i, j, k];
                let key = deal.key(|c| tuple[c]);
                let point = tuple.map(|c| c as i64);
                let at = map
                    .restricted_to(&Set::point(&point))
                    .expect("of one length");
                let pairs = at.enumerate(&Environment::new(), i64::MIN..i64::MAX);
                let expected = [(point.to_vec(), vec![key as i64])].into();
                assert_eq!(pairs.expect("enumerates"), expected);
                assert!(key as i64 <= deal.greatest().expect("few bits"));
                assert_eq!([0, 1, 2].map(|c| deal.coordinate(key, c)), tuple);
            }
        }
    }
}

#[test]
fn keys_are_those_of_relations() {
    let greatest = [4, 1, 6];
    check(&Deal::morton(&greatest), greatest, "MORTON(i, j, k)");
    check(&Deal::alto(&greatest), greatest, "ALTO(i, 5, j, 2, k, 7)");
}

#[test]
fn keys_have_63_bits() {
    assert!(
        Deal::alto(&[u32::MAX.into(), i32::MAX as u64])
            .greatest()
            .is_some()
    );
    assert_eq!(
        Deal::alto(&[u32::MAX.into(), u32::MAX.into()]).greatest(),
        None
    );
}
