//! Attributes whose value is a word of a list.

use crate::release::Releases;

/// The words that an attribute allows, and their spelling in the generic form.
#[derive(Debug)]
pub struct Words {
    /// The name in definitions.
    pub name: &'static str,
    /// The attribute of a dialect around the word in the generic form, as its name and the text
    /// before the word; `None` if the generic form has the number of the word.
    pub prefix: Option<(&'static str, &'static str)>,
    /// The words, in the order of their numbers.
    pub words: &'static [&'static str],
}

impl Words {
    /// The list with this name in definitions.
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        ALL.iter().find(|words| words.name == name)
    }

    /// The word as it stands in the list.
    pub fn word(&self, text: &str) -> Option<&'static str> {
        self.words.iter().copied().find(|word| *word == text)
    }
}

/// The kinds of reductions of vectors, and the releases that know them. `maxf` and `minf` became
/// `maxnumf` and `minnumf`, which ignore NaN.
pub(crate) const COMBINING: [(&str, Releases); 17] = [
    ("add", Releases::ALL),
    ("mul", Releases::ALL),
    ("min", Releases::until(13)),
    ("minui", Releases::from(14)),
    ("minsi", Releases::from(14)),
    ("minf", Releases::new(14, 17)),
    ("minnumf", Releases::from(18)),
    ("minimumf", Releases::from(18)),
    ("max", Releases::until(13)),
    ("maxui", Releases::from(14)),
    ("maxsi", Releases::from(14)),
    ("maxf", Releases::new(14, 17)),
    ("maxnumf", Releases::from(18)),
    ("maximumf", Releases::from(18)),
    ("and", Releases::ALL),
    ("or", Releases::ALL),
    ("xor", Releases::ALL),
];

static ALL: [Words; 6] = [
    Words {
        name: "cmpi",
        prefix: None,
        words: &[
            "eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge",
        ],
    },
    Words {
        name: "cmpf",
        prefix: None,
        words: &[
            "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult",
            "ule", "une", "uno", "true",
        ],
    },
    Words {
        name: "direction",
        prefix: Some(("sparse_tensor", "CrdTransDirection ")),
        words: &["dim_to_lvl", "lvl_to_dim"],
    },
    Words {
        name: "specifier",
        prefix: Some(("sparse_tensor", "kind ")),
        words: &[
            "lvl_sz",
            "pos_mem_sz",
            "crd_mem_sz",
            "val_mem_sz",
            "dim_offset",
            "dim_stride",
        ],
    },
    Words {
        name: "specifier16",
        prefix: Some(("sparse_tensor", "kind ")),
        words: &["dim_sz", "ptr_mem_sz", "idx_mem_sz", "val_mem_sz"],
    },
    Words {
        name: "sorting",
        prefix: Some(("sparse_tensor", "SparseTensorSortAlgorithm ")),
        words: &[
            "hybrid_quick_sort",
            "insertion_sort_stable",
            "quick_sort",
            "heap_sort",
        ],
    },
];
