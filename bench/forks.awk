# A conversation of many messages and forks of it, as files of their own: each has the lines up to some answer, with its
# own session id, and two of its own. Usage: awk -v forks=N -v messages=N -v out=DIR -f forks.awk
function uuid(kind, n) { return sprintf("%08x-%04x-4000-8000-%012x", n * 2654435761 % 4294967296, kind, n) }
function words(n,   i, text) {
	text = ""
	for (i = 0; i < n; i++) text = text (i ? " " : "") word[int(rand() * 400)]
	return text
}
function line(kind, n, parent, minute, text,   front) {
	front = sprintf("\"parentUuid\":%s,\"isSidechain\":false,\"userType\":\"external\",\"cwd\":\"/home/dev/clock\",\"sessionId\":\"SESSION\",\"version\":\"2.1.197\",\"gitBranch\":\"main\",\"uuid\":\"%s\",\"timestamp\":\"2026-%02d-%02dT%02d:%02d:00.000Z\"",
		parent == "" ? "null" : "\"" parent "\"", uuid(kind, n), 1 + int(minute / 40000), 1 + int(minute / 1440) % 28, int(minute / 60) % 24, minute % 60)
	if (n % 2) return sprintf("{\"type\":\"user\",%s,\"message\":{\"role\":\"user\",\"content\":\"%s\"}}", front, text)
	return sprintf("{\"type\":\"assistant\",%s,\"requestId\":\"req_%d_%d\",\"message\":{\"id\":\"msg_%d_%d\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-opus-4-5\",\"content\":[{\"type\":\"text\",\"text\":\"%s\"}],\"usage\":{\"input_tokens\":9,\"output_tokens\":200}}}", front, kind, n, kind, n, text)
}
function put(text, session, file) { sub(/SESSION/, session, text); print text > file }
BEGIN {
	srand(1)
	for (i = 0; i < 400; i++) word[i] = sprintf("%c%c%s%d", 97 + i % 26, 97 + int(i / 26), substr("stream parser buffer index", 1 + i % 20, 4), i)
	for (i = 1; i <= messages; i++) said[i] = line(1, i, i > 1 ? uuid(1, i - 1) : "", i, words(i % 2 ? 20 : 150))
	for (k = 0; k <= forks; k++) {
		session = uuid(9, k + 1); file = out "/" session ".jsonl"
		cut = k ? 2 * (1 + int((k - 1) * messages / 2 / forks)) : messages
		for (i = 1; i <= cut; i++) put(said[i], session, file)
		if (k) {
			put(line(10 + k, 1, uuid(1, cut), messages + 2 * k, "Another way, number " k ": " words(8)), session, file)
			put(line(10 + k, 2, uuid(10 + k, 1), messages + 2 * k + 1, words(60)), session, file)
		}
		close(file)
	}
}
