use super::*;

#[test]
fn processor_time_of_either_hierarchy_is_read() {
    let folder = std::env::temp_dir().join(format!("auto-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    assert_eq!(group_cpu_ns(&folder), 0);
    fs::write(folder.join("cpu.stat"), "usage_usec 12\nuser_usec 5\n").unwrap();
    assert_eq!(group_cpu_ns(&folder), 12_000);
    fs::write(folder.join("cpuacct.usage"), "77\n").unwrap();
    assert_eq!(group_cpu_ns(&folder), 77);
    fs::write(
        folder.join("tasks"),
        format!("{}\n999999999\n", std::process::id()),
    )
    .unwrap();
    fs::create_dir_all(folder.join("host")).unwrap();
    fs::write(
        folder.join("host/tasks"),
        format!("{}\n999999999\n", std::process::id()),
    )
    .unwrap();
    let waits = waits(&folder);
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(waits.len(), 1);
    assert!(waits.values().all(|wait| wait.turns > 0));
}
