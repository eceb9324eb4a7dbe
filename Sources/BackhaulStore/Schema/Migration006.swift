extension Schema {
    /// Version 6: two tables and a column get the names that docs/glossary.md prescribes.
    static let migration006 = """
        ALTER TABLE answers RENAME TO responses;
        ALTER TABLE kept_answers RENAME TO stored_credentials;
        ALTER TABLE challenges RENAME COLUMN told TO is_seen;
        """
}
