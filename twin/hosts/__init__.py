"""Hosts: processes in namespaces with a root file system of their own."""
