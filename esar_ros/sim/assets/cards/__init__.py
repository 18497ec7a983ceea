"""Plants of cut-out cards and stones cut by planes, for images of high quality."""
