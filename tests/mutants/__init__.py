"""One-line mutants of the code that everything else relies on: does a test fail for each of them?"""
