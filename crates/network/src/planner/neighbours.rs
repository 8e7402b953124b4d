//! The structures beside a structure.

use crate::loops::Item;
use crate::network::IndexVar;

/// The structures that differ by one change: two neighbouring fused loops exchanged, or one
/// loop run once for each of the items that it surrounds.
pub(super) fn neighbours(items: &[Item]) -> Vec<Vec<Item>> {
    let mut found = Vec::new();
    for (place, item) in items.iter().enumerate() {
        let mut chain = Vec::new();
        let mut body = std::slice::from_ref(item);
        while let [Item::Loop(index, inner)] = body {
            chain.push(*index);
            body = inner;
        }
        if body.len() < 2 {
            continue;
        }
        let replaced = |by: Vec<Item>| {
            let mut items = items.to_vec();
            items.splice(place..=place, by);
            items
        };
        let nest = |chain: &[IndexVar], body: Vec<Item>| Item::nest(chain.iter().copied(), body);
        for other in 1..chain.len() {
            let mut chain = chain.clone();
            chain.swap(other - 1, other);
            found.push(replaced(nest(&chain, body.to_vec())));
        }
        for (depth, &index) in chain.iter().enumerate() {
            let mut outer = chain.clone();
            outer.remove(depth);
            let each = body
                .iter()
                .map(|item| Item::Loop(index, vec![item.clone()]))
                .collect();
            found.push(replaced(nest(&outer, each)));
        }
        for body in neighbours(body) {
            found.push(replaced(nest(&chain, body)));
        }
    }
    found
}
