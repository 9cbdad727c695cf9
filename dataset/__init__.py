"""The data set: power against packet interval, points of studies and truths, and measured files of others."""
