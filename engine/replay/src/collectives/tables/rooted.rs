//! Operations with a root. Trees and parts are called without a size of segments.

use super::super::Algorithm::{
    self, Binomial, InOrderBinary, Linear, LinearNonBlocking, LinearSync, Rabenseifner,
    ScatterAllgather, SplitBinary, Tree,
};
use super::super::tree::Shape;
use super::{K, M, Table};

const CHAIN: Algorithm = Tree(Shape::Chain, 0);
const BINARY: Algorithm = Tree(Shape::Binary, 0);
const BINOMIAL: Algorithm = Tree(Shape::Binomial, 0);
const IN_ORDER: Algorithm = Tree(Shape::InOrderBinomial, 0);
const KNOMIAL: Algorithm = Tree(Shape::Knomial, 0);
const SPLIT: Algorithm = SplitBinary { segment: 0 };
const IN_TWO_PARTS: Algorithm = LinearSync { first: 0 };

/// Line 512.
pub(super) const BCAST: Table = &[
    (
        0,
        &[
            (0, CHAIN),
            (32, BINARY),
            (256, CHAIN),
            (512, KNOMIAL),
            (K, Linear),
            (32 * K, BINARY),
            (128 * K, CHAIN),
            (256 * K, Linear),
            (512 * K, BINOMIAL),
            (M, BINARY),
        ],
    ),
    (
        4,
        &[
            (0, BINARY),
            (64, BINOMIAL),
            (128, BINARY),
            (2 * K, BINOMIAL),
            (8 * K, Linear),
            (M, CHAIN),
        ],
    ),
    (
        8,
        &[
            (0, KNOMIAL),
            (8, BINARY),
            (64, KNOMIAL),
            (4 * K, BINARY),
            (16 * K, BINOMIAL),
            (32 * K, Linear),
        ],
    ),
    (
        16,
        &[(0, KNOMIAL), (4 * K, BINOMIAL), (M, ScatterAllgather)],
    ),
    (32, &[(0, BINOMIAL), (2 * K, KNOMIAL)]),
    (64, &[(0, KNOMIAL)]),
    (
        128,
        &[
            (0, BINOMIAL),
            (2, BINARY),
            (16 * K, Linear),
            (32 * K, BINARY),
            (64 * K, KNOMIAL),
        ],
    ),
    (256, &[(0, KNOMIAL), (16 * K, SPLIT), (32 * K, KNOMIAL)]),
    (1024, &[(0, KNOMIAL), (512 * K, ScatterAllgather)]),
    (2048, &[(0, KNOMIAL), (256 * K, ScatterAllgather)]),
    (
        4096,
        &[
            (0, KNOMIAL),
            (8 * K, BINARY),
            (16 * K, KNOMIAL),
            (256 * K, ScatterAllgather),
        ],
    ),
];

/// Line 662; an operation that commutes.
pub(super) const REDUCE: Table = &[
    (
        0,
        &[
            (0, Rabenseifner),
            (8, BINARY),
            (16, CHAIN),
            (32, Linear),
            (256 * K, CHAIN),
        ],
    ),
    (
        4,
        &[
            (0, BINARY),
            (4 * K, CHAIN),
            (64 * K, IN_ORDER),
            (256 * K, Linear),
            (512 * K, IN_ORDER),
            (M, Linear),
        ],
    ),
    (8, &[(0, BINARY), (8 * K, IN_ORDER)]),
    (16, &[(0, BINARY), (4 * K, IN_ORDER)]),
    (32, &[(0, IN_ORDER)]),
    (
        256,
        &[(0, IN_ORDER), (8 * K, InOrderBinary), (16 * K, IN_ORDER)],
    ),
    (512, &[(0, IN_ORDER)]),
    (
        2048,
        &[
            (0, IN_ORDER),
            (512, InOrderBinary),
            (K, IN_ORDER),
            (8 * K, InOrderBinary),
            (16 * K, IN_ORDER),
        ],
    ),
    (
        4096,
        &[
            (0, IN_ORDER),
            (16, InOrderBinary),
            (32, IN_ORDER),
            (K, InOrderBinary),
            (2 * K, IN_ORDER),
            (8 * K, InOrderBinary),
            (16 * K, IN_ORDER),
        ],
    ),
];

/// Line 662; one that does not.
pub(super) const REDUCE_IN_ORDER: Table = &[
    (0, &[(0, InOrderBinary), (8, Linear)]),
    (4, &[(0, Linear)]),
    (
        8,
        &[
            (0, InOrderBinary),
            (K, Linear),
            (8 * K, InOrderBinary),
            (16 * K, Linear),
            (256 * K, InOrderBinary),
        ],
    ),
    (16, &[(0, InOrderBinary)]),
    (
        128,
        &[(0, InOrderBinary), (512, Linear), (K, InOrderBinary)],
    ),
    (256, &[(0, InOrderBinary)]),
];

/// Line 1379, by a block.
pub(super) const GATHER: Table = &[
    (
        0,
        &[
            (0, IN_TWO_PARTS),
            (2, Linear),
            (4, Binomial),
            (32 * K, Linear),
            (64 * K, Binomial),
            (128 * K, IN_TWO_PARTS),
        ],
    ),
    (
        4,
        &[
            (0, Binomial),
            (K, Linear),
            (8 * K, Binomial),
            (32 * K, Linear),
            (256 * K, IN_TWO_PARTS),
        ],
    ),
    (8, &[(0, Binomial)]),
    (256, &[(0, Binomial), (2 * K, Linear), (8 * K, Binomial)]),
    (512, &[(0, Binomial)]),
];

/// Line 1468, by a block.
pub(super) const SCATTER: Table = &[
    (
        0,
        &[
            (0, LinearNonBlocking),
            (2, Linear),
            (128 * K, LinearNonBlocking),
            (256 * K, Linear),
        ],
    ),
    (
        4,
        &[
            (0, Binomial),
            (2 * K, Linear),
            (4 * K, Binomial),
            (8 * K, Linear),
            (32 * K, LinearNonBlocking),
            (M, Linear),
        ],
    ),
    (
        8,
        &[(0, Binomial), (16 * K, LinearNonBlocking), (M, Linear)],
    ),
    (
        16,
        &[(0, Binomial), (16 * K, Linear), (32 * K, LinearNonBlocking)],
    ),
    (
        32,
        &[
            (0, Binomial),
            (512, LinearNonBlocking),
            (8 * K, Binomial),
            (16 * K, LinearNonBlocking),
        ],
    ),
    (64, &[(0, Binomial), (512, LinearNonBlocking)]),
];
