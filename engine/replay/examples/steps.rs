//! What the ranks send in collective calls, in its order: `evaluation/accuracy/collectives_ompi.py` compares it with Open MPI.
//!
//! Each line of the standard input is a call, in eleven words: library, kind, ranks, root, bytes, bytes of an element,
//! `commutative` or not, `in-place` or not, block sizes separated by commas (alltoallv: rank by rank, those that it sends)
//! or `-`, the node of each rank separated by commas or `-` for one a rank, and an algorithm or `-` for the library's choice: the name of a variant, for trees of the shape, and perhaps
//! `:` and bytes of a segment. The line of the output has the chosen algorithm, and for each rank what it sends, as
//! `to:bytes to:bytes`, all separated by `;`.

use replay::collectives::{
    Algorithm, Collective, Kind, Library, Nodes, Shape, algorithm, steps_by,
};
use replay::step::{Step, Steps};
use std::fmt::Write;
use std::io::{self, BufRead};
use std::sync::Arc;

fn main() -> io::Result<()> {
    for line in io::stdin().lock().lines() {
        println!("{}", answer(&line?));
    }
    Ok(())
}

fn answer(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [
        library,
        kind,
        ranks,
        root,
        bytes,
        element,
        commutative,
        in_place,
        sizes,
        nodes,
        forced,
    ] = words[..]
    else {
        panic!("a call has eleven words: {line}");
    };
    let library = Library::named(library).expect("a library");
    let kind = Kind::ALL
        .into_iter()
        .find(|known| format!("{known:?}").eq_ignore_ascii_case(kind))
        .expect("a collective operation");
    let sizes = (sizes != "-").then(|| sizes.split(',').map(number).collect::<Vec<_>>());
    let call = Collective {
        root: number(root) as u32,
        element: number(element),
        commutative: commutative == "commutative",
        in_place: in_place == "in-place",
        nodes: (nodes != "-").then(|| Arc::new(on_nodes(nodes))),
        ..Collective::new(kind, number(ranks) as u32, number(bytes))
    };
    let chosen = match forced {
        "-" => algorithm(library, &of_rank(&call, sizes.as_deref(), 0)),
        name => named(name),
    };
    let mut text = format!("{chosen:?}");
    for rank in 0..call.ranks {
        text.push(';');
        let of_rank = of_rank(&call, sizes.as_deref(), rank);
        let mut steps = steps_by(chosen, library, &of_rank, rank).expect("one of the operation's");
        write_sends(&mut text, &mut steps);
    }
    text
}

/// The sends of a rank, with those of a part where it begins it.
fn write_sends(text: &mut String, steps: &mut Steps) {
    while let Some(step) = steps.next() {
        match step {
            Step::Send { to, bytes, .. } => {
                write!(text, "{to}:{bytes} ").expect("a string takes everything");
            }
            Step::Begin => write_sends(text, &mut steps.part()),
            _ => {}
        }
    }
}

fn named(name: &str) -> Algorithm {
    let (name, segment) = name.split_once(':').unwrap_or((name, "0"));
    let segment = number(segment);
    match name {
        "Linear" => Algorithm::Linear,
        "LinearNonBlocking" => Algorithm::LinearNonBlocking,
        "LinearSync" => Algorithm::LinearSync { first: segment },
        "Chain" => Algorithm::Tree(Shape::Chain, segment),
        "Binary" => Algorithm::Tree(Shape::Binary, segment),
        "BinomialTree" => Algorithm::Tree(Shape::Binomial, segment),
        "InOrderBinomial" => Algorithm::Tree(Shape::InOrderBinomial, segment),
        "Knomial" => Algorithm::Tree(Shape::Knomial, segment),
        "Binomial" => Algorithm::Binomial,
        "InOrderBinary" => Algorithm::InOrderBinary,
        "SplitBinary" => Algorithm::SplitBinary { segment },
        "ScatterAllgather" => Algorithm::ScatterAllgather,
        "RecursiveDoubling" => Algorithm::RecursiveDoubling,
        "Ring" => Algorithm::Ring,
        "SegmentedRing" => Algorithm::SegmentedRing { segment },
        "Rabenseifner" => Algorithm::Rabenseifner,
        "NonOverlapping" => Algorithm::NonOverlapping,
        "Neighbour" => Algorithm::Neighbour,
        "Bruck" => Algorithm::Bruck,
        "Pairwise" => Algorithm::Pairwise,
        "UpAndDown" => Algorithm::UpAndDown,
        "RecursiveHalving" => Algorithm::RecursiveHalving,
        "Butterfly" => Algorithm::Butterfly,
        _ => panic!("unknown algorithm {name}"),
    }
}

/// The call as this rank makes it.
fn of_rank(call: &Collective, sizes: Option<&[u64]>, rank: u32) -> Collective {
    let Some(sizes) = sizes else {
        return call.clone();
    };
    let (ranks, own) = (call.ranks as usize, rank as usize);
    let (bytes, sizes): (u64, Arc<[u64]>) = match call.kind {
        Kind::Alltoallv => {
            let sent = &sizes[own * ranks..(own + 1) * ranks];
            let received = (0..ranks).map(|other| sizes[other * ranks + own]);
            (
                sent.iter().sum(),
                sent.iter().copied().chain(received).collect(),
            )
        }
        Kind::ReduceScatter => (sizes.iter().sum(), sizes.into()),
        _ => (sizes[own], sizes.into()),
    };
    Collective {
        bytes,
        sizes: Some(sizes),
        ..call.clone()
    }
}

fn on_nodes(word: &str) -> Nodes {
    let nodes: Vec<u32> = word.split(',').map(|node| number(node) as u32).collect();
    Nodes::new(&nodes)
}

fn number(word: &str) -> u64 {
    word.parse().expect("a number")
}
