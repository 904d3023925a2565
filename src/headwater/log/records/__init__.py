"""Record batches: headers, records, compression, and walking over them."""
