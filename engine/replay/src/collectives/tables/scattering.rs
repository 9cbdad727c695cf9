//! Reductions whose result is scattered.

use super::super::Algorithm::{
    Butterfly, NonOverlapping, RecursiveDoubling, RecursiveHalving, Ring,
};
use super::{K, M, Table};

/// Line 824, by the whole vector.
pub(super) const REDUCE_SCATTER: Table = &[
    (0, &[(0, Ring), (64 * K, Butterfly), (128 * K, Ring)]),
    (
        4,
        &[(0, NonOverlapping), (8, RecursiveHalving), (256 * K, Ring)],
    ),
    (8, &[(0, RecursiveHalving), (256 * K, Ring)]),
    (
        32,
        &[
            (0, NonOverlapping),
            (64, RecursiveHalving),
            (2 * K, Butterfly),
            (512 * K, Ring),
        ],
    ),
    (
        64,
        &[
            (0, NonOverlapping),
            (256, RecursiveHalving),
            (512, Butterfly),
            (2 * K, RecursiveHalving),
            (4 * K, Butterfly),
        ],
    ),
    (
        128,
        &[
            (0, NonOverlapping),
            (256, RecursiveHalving),
            (512, Butterfly),
        ],
    ),
    (
        256,
        &[(0, NonOverlapping), (256, RecursiveHalving), (K, Butterfly)],
    ),
    (
        512,
        &[
            (0, NonOverlapping),
            (512, RecursiveHalving),
            (2 * K, Butterfly),
            (8 * K, RecursiveHalving),
            (16 * K, Butterfly),
        ],
    ),
    (
        1024,
        &[
            (0, NonOverlapping),
            (512, RecursiveHalving),
            (4 * K, Butterfly),
            (16 * K, RecursiveHalving),
            (32 * K, Butterfly),
        ],
    ),
    (
        2048,
        &[
            (0, NonOverlapping),
            (512, RecursiveHalving),
            (4 * K, Butterfly),
        ],
    ),
    (
        4096,
        &[
            (0, NonOverlapping),
            (K, RecursiveHalving),
            (8 * K, Butterfly),
        ],
    ),
];

/// Line 972, by a block. What the library calls linear is a reduce and a scatter by their own tables.
pub(super) const REDUCE_SCATTER_BLOCK: Table = &[
    (
        0,
        &[
            (0, RecursiveDoubling),
            (4, Butterfly),
            (8, RecursiveHalving),
            (16, Butterfly),
            (128, RecursiveHalving),
            (256, Butterfly),
            (4 * K, RecursiveHalving),
            (8 * K, Butterfly),
            (128 * K, NonOverlapping),
        ],
    ),
    (
        4,
        &[
            (0, RecursiveHalving),
            (8, RecursiveDoubling),
            (32, Butterfly),
            (256, RecursiveHalving),
            (8 * K, Butterfly),
            (16 * K, RecursiveHalving),
            (M, NonOverlapping),
        ],
    ),
    (
        8,
        &[
            (0, NonOverlapping),
            (4, RecursiveHalving),
            (32, Butterfly),
            (128, RecursiveHalving),
            (512 * K, NonOverlapping),
            (4 * M, Butterfly),
        ],
    ),
    (
        16,
        &[
            (0, NonOverlapping),
            (32, RecursiveHalving),
            (512 * K, NonOverlapping),
            (2 * M, RecursiveHalving),
            (4 * M, Butterfly),
        ],
    ),
    (
        32,
        &[
            (0, RecursiveHalving),
            (4, NonOverlapping),
            (16, Butterfly),
            (64 * K, NonOverlapping),
            (256 * K, Butterfly),
        ],
    ),
];
