/// Finds the known word that a user probably meant.
enum Suggestion {
    /// Words of other programs, with the words of this program for the same thing.
    private static let synonyms: [String: [String]] = [
        "rm": ["remove", "cancel"], "delete": ["remove", "cancel"], "abort": ["cancel"], "kill": ["cancel"],
        "stop": ["suspend"], "pause": ["suspend"], "continue": ["resume"], "unpause": ["resume"], "start": ["resume"],
        "download": ["get"], "fetch": ["get"], "upload": ["put"], "send": ["put"], "enqueue": ["add"],
        "queue": ["add"], "list": ["tasks"], "ls": ["tasks"], "jobs": ["tasks"], "show": ["info", "status"],
        "log": ["history"], "config": ["configure"], "settings": ["configure"], "login": ["respond"],
        "remove": ["cancel"],
        "status": ["tasks"], "check": ["doctor"], "rate": ["limit-rate"], "add": ["set", "install"],
        "enable": ["install"],
        "disable": ["uninstall"],
    ]

    /// A known word with the same meaning, else the known word that differs from `word` in the fewest characters, else
    /// one that has `word` as a part, such as `limit-rate` for `rate`. Nil if all known words differ in more than a
    /// third of their characters.
    static func nearest(to word: String, among words: [String]) -> String? {
        if let synonym = synonyms[word]?.first(where: words.contains) { return synonym }
        let typed = Array(word.lowercased())
        var best: (word: String, distance: Int)?
        for candidate in words {
            let distance = distance(typed, Array(candidate.lowercased()))
            let most = max(1, max(typed.count, candidate.count) / 3)
            if distance <= most && distance < best?.distance ?? Int.max { best = (candidate, distance) }
        }
        return best?.word ?? words.first { $0.split(separator: "-").contains(Substring(word)) }
    }

    /// The end of a message about an unknown word: "; did you mean 'host'?", or a list of the known words.
    static func phrase(for word: String, among words: [String]) -> String {
        if let word = nearest(to: word, among: words) { return "; did you mean '\(word)'?" }
        return "; the known ones are " + words.joined(separator: ", ")
    }

    /// The number of characters that were added, left out, replaced, or exchanged with their neighbour (the restricted
    /// Damerau-Levenshtein distance). Neither Swift nor the C library has such a function.
    private static func distance(_ from: [Character], _ to: [Character]) -> Int {
        var former: [Int] = []
        var row = Array(0...to.count)
        for line in from.indices {
            var next = [line + 1]
            for column in to.indices {
                let replaced = row[column] + (from[line] == to[column] ? 0 : 1)
                var least = min(row[column + 1] + 1, next[column] + 1, replaced)
                if line > 0, column > 0, from[line] == to[column - 1], from[line - 1] == to[column] {
                    least = min(least, former[column - 1] + 1)
                }
                next.append(least)
            }
            (former, row) = (row, next)
        }
        return row[to.count]
    }
}
