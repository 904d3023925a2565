"""The REST proxy: topics, records and consumers by HTTP, as Confluent's REST Proxy has them."""
