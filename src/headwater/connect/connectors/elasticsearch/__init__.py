"""Elasticsearch and OpenSearch: records become documents, by the bulk API that both have."""
