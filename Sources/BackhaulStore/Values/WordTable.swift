/// A fixed list of texts, which finds the place of a text in the list without a comparison of strings.
struct WordTable: Sendable {
    let words: [String]
    /// The bytes of all words, one after the other.
    private var bytes: [UInt8] = []
    /// Where each word begins in `bytes`, and the end of the last word.
    private var starts: [Int] = [0]
    /// A hash table with open addressing: the place of a word in the list, plus one. Zero: a free slot. At least half
    /// of the slots are free, so each search ends.
    private var slots: [UInt16]

    init(_ words: [String]) {
        self.words = words
        var count = 64
        while count < words.count * 2 { count *= 2 }
        slots = Array(repeating: 0, count: count)
        for (index, word) in words.enumerated() {
            bytes += Array(word.utf8)
            starts.append(bytes.count)
            var slot = slot(of: word.utf8.span)
            while slots[slot] != 0 { slot = (slot + 1) & (count - 1) }
            slots[slot] = UInt16(index + 1)
        }
    }

    /// Returns the place of a text in the list, or nil if the text is not in the list.
    func index(of text: Span<UInt8>) -> Int? {
        guard !text.isEmpty else { return nil }
        var slot = slot(of: text)
        while slots[slot] != 0 {
            let index = Int(slots[slot]) - 1
            if isWord(index, text) { return index }
            slot = (slot + 1) & (slots.count - 1)
        }
        return nil
    }

    /// The slot where the search of a text begins. Words differ most in their length, in the middle and at the end.
    private func slot(of text: Span<UInt8>) -> Int {
        let (first, middle, last) = (text[0], text[text.count / 2], text[text.count - 1])
        let hash = (Int(first) &* 31 &+ Int(middle)) &* 31 &+ Int(last) &+ text.count &* 7
        return hash & (slots.count - 1)
    }

    private func isWord(_ index: Int, _ text: Span<UInt8>) -> Bool {
        let start = starts[index]
        guard starts[index + 1] - start == text.count else { return false }
        for offset in text.indices where bytes[start + offset] != text[offset] { return false }
        return true
    }
}
