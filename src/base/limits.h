/*
 * Every limit in Arbor, with its reason. A limit that is not here does not
 * exist; a number in the code that bounds input belongs here.
 */
#ifndef ARBOR_BASE_LIMITS_H
#define ARBOR_BASE_LIMITS_H

#define KIB ((size_t)1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)

/* Text of one error. Longer context is cut at its end; paths are <= 4096 and
 * rarely over 300, and five candidates of an ambiguous name have to fit. */
#define LIMIT_ERR_TEXT 2048

/* Path below a root. Linux's PATH_MAX; a longer one cannot be opened anyway. */
#define LIMIT_PATH 4096

/* Directories below a root. Claude Code nests 6 deep; the rest is hostile. */
#define LIMIT_WALK_DEPTH 48

/* A JSON text. Positions on the tape are 32 bit. */
#define LIMIT_JSON_TEXT ((size_t)UINT32_MAX - 1)

/* Nesting of transcript JSON. Real lines stay under 30. */
#define LIMIT_JSON_DEPTH 512

/* Days that statistics tell apart. Times are whatever lines say; a lifetime has fewer. */
#define LIMIT_STATS_DAYS 65536

/* A settings file. People write these; the largest one imaginable is some KiB. */
#define LIMIT_SETTINGS (1 * MIB)

/* Warnings about one settings file. It may come with a stranger's project, and
 * must not fill the screen. */
#define LIMIT_SETTINGS_WARNINGS 10

/* A longer line is archived like any other, but never parsed: tape and
 * decoded text of one line have to fit into memory several times. */
#define LIMIT_LINE_PARSED (64 * MIB)

/* How far a transcript is looked at for the folder it was written in. The first prompt or
 * answer names it; a file that goes on for longer without is none of the client's. */
#define LIMIT_FOLDER_SEARCH (64 * MIB)

/* Values in one JSON text. Real lines stay under 100,000; each takes 16 bytes on the
 * tape, and nothing but "[1,1,1" has so many in a line that is read. */
#define LIMIT_JSON_VALUES ((uint32_t)4 * 1024 * 1024)

/* Objects in one line. Two were seen; each is a row and a key. What follows is kept as
 * one that cannot be read. */
#define LIMIT_LINE_RECORDS 1000

/* Blocks of one line that are nodes and can be searched. Real ones have some dozens; an id
 * and a key have to be made of each. */
#define LIMIT_LINE_BLOCKS ((uint32_t)UINT16_MAX)

/* A line's own uuid, if it is no UUID. Ids of all its blocks are hashed from it. */
#define LIMIT_LINE_UUID 128

/* Words of one document and of one line, packed. FTS5 holds a whole document in memory, and
 * up to a hundred bytes for each word that is in it once. A longer text becomes several documents. */
#define LIMIT_DOC_TEXT   (1 * MIB)
#define LIMIT_LINE_WORDS (16 * MIB)

/* Archive blocks. Larger ones pack better and faster, and cost more to fetch one line from: of 1 GB of
 * real transcripts 64 KiB gave store/raw 0.353, 96 KiB 0.334, 128 KiB 0.321; a first sync took 3 % longer with 96
 * than with 128, a search, which unpacks ten of them, 13 % less. A block ends at a line end unless a single line is
 * longer than BLOCK_MAX. Stores may hold blocks of any size up to BLOCK_MAX, so only that one may never shrink. */
#define LIMIT_BLOCK_TARGET (96 * KIB)
#define LIMIT_BLOCK_MAX    (1 * MIB)

/* What the compressing threads may have ready for the writing one. Bounds the
 * memory of a sync whatever the files' sizes. */
#define LIMIT_SYNC_QUEUE (12 * MIB)

/* From so much on that is new, a sync reads what it has archived while it archives the rest.
 * Below it, a second connection and its thread cost more than they gain. */
#define LIMIT_ALONG_BYTES (2 * MIB)

/* What is kept in memory of what was packed, until it is read. More than a few files, so that nobody waits
 * for another; and little beside what a sync may take. */
#define LIMIT_FRESH_BYTES (32 * MIB)

/* Archived bytes up to which all of them are compared before an append is
 * believed; beyond, only the first block and the last ones are: 64 KiB and more
 * in front of the new bytes. Comparing runs at some GB/s. */
#define LIMIT_VERIFY_WHOLE (16 * MIB)
#define LIMIT_VERIFY_TAIL  (64 * KIB)

/* Files over this are read after all others: a sparse file of terabytes costs
 * whoever made it nothing. */
#define LIMIT_GIANT (256 * MIB)

/* How much of a file's beginning recognises it after a rename. */
#define LIMIT_HEAD_HASH (4 * KIB)

/* A file changed this short a time ago may change again without a visible
 * change of its times (coarse clocks: 2 s on FAT and NFS), so it is compared
 * again by the next sync. */
#define LIMIT_RACY_NS ((int64_t)2000 * 1000 * 1000)

/* A write transaction is committed when it is this old, so that nobody waits
 * long for the write lock. */
#define LIMIT_TXN_NS ((int64_t)6 * 1000 * 1000)

/* The same for filling the full-text index: FTS5 writes a segment for each commit, and short
 * ones have to be merged more often. When somebody waits, and when nobody does: ending one of
 * 50 ms takes 10, so who comes in the middle of it waits no longer than for several short ones.
 * With 12 ms always, a first sync takes a twentieth longer. */
#define LIMIT_INDEX_TXN_NS	 ((int64_t)12 * 1000 * 1000)
#define LIMIT_INDEX_TXN_ALONE_NS ((int64_t)50 * 1000 * 1000)

/* When a program has had the lock for LIMIT_TXN_NS, it leaves it free for this long
 * before it goes on. Whoever waits for it looks two or three times meanwhile, and waits for
 * one transaction and not for several. */
#define LIMIT_TXN_PAUSE_NS (250L * 1000)

/* How long a connection waits for another's lock before it gives up. Far above
 * any transaction of ours; below what a person takes for a hang. */
#define LIMIT_BUSY_MS 30000

/* Connections that a program using the library leaves open between calls. Each has its descriptors
 * and a small cache; more threads than this seldom call at once. */
#define LIMIT_FREE_STORES 8

/* Names of hosts and roots: they are part of ids and of what people type. */
#define LIMIT_LABEL 64

/* A task, a todo list, a plan or the note of a running client: written by a model or a
 * program for a screen, so some KiB. A longer one is kept, but not looked into. */
#define LIMIT_SMALL_FILE (16 * MIB)

/* Folders, branches or pull requests that are told of a session. Some have a dozen; more are
 * kept, and there is no use in them in every list of sessions. */
#define LIMIT_SESSION_VALUES 100

/* Of a transcript, the last bytes that are read to tell what happened in it: a day's work, and
 * some 10 ms. */
#define LIMIT_RECAP ((int64_t)4 * 1024 * 1024)

/* A line of a purged session that is known again wherever it stands. Shorter ones are no records, say
 * nothing, and stand in many files; they go with the file, and where somebody asks for one alone. */
#define LIMIT_LINE_TELLING 16

/* Digits of an id that are enough to mean it, if nothing else begins so. */
#define LIMIT_ID_PREFIX 4

/* A handle: all its parts together, decoded; in text form three times that and the marks between
 * them, in JSON six times. It names a thing and holds none; ids and names of tools take some hundred bytes. */
#define LIMIT_HANDLE	  ((size_t)8 * KIB)
#define LIMIT_HANDLE_TEXT (8 * LIMIT_HANDLE)
#define LIMIT_HANDLE_META 64

/* Handles in one call. A page of a tree has some hundred; whoever has more asks again. */
#define LIMIT_RESOLVE_MANY 10000

/* Bytes of one text that a resolved handle carries unless more are asked for, and at most. What
 * tools print is mostly shorter than the first; the second has to fit into a result several times. */
#define LIMIT_RESOLVED	    (64 * KIB)
#define LIMIT_RESOLVED_MOST (16 * MIB)

/* Parts that a resolved handle has: blocks of a message, of all messages of a turn. Each takes some hundred
 * bytes beside its text; the longest real turns have some thousand. */
#define LIMIT_RESOLVED_PARTS 10000

/* Text of a node that somebody makes. It is written and read as one value; what is larger belongs to whoever has
 * it, and a handle into the tree. */
#define LIMIT_NODE_TEXT (16 * MIB)

/* Metadata of a tree or node: small hints, which are read with every node on a path. What metadata
 * is looked for by is compared with that of every tree. */
#define LIMIT_METADATA	(64 * KIB)
#define LIMIT_FILTER	(4 * KIB)

/* Nesting of metadata. It is compared recursively. */
#define LIMIT_METADATA_DEPTH 64

/* Name of an owner: of a program, a person or a session. */
#define LIMIT_OWNER 200

/* Claims of one owner. Whoever has more has lost count. */
#define LIMIT_CLAIMS ((int64_t)1000000)

/* Subjects that are planned for at once when what is due moves on: some 30 bytes each. */
#define LIMIT_GC_PLAN 100000

/* A message of JSON-RPC. It has to hold a resolved text of LIMIT_RESOLVED_MOST, escaped. */
#define LIMIT_RPC_LINE (64 * MIB)

/* Calls of one connection that run at the same time, each in a thread of its own, and that wait for
 * their turn; and all bytes of the latter. Whoever wants more is told to come again. */
#define LIMIT_RPC_RUNNING      16
#define LIMIT_RPC_WAITING      256
#define LIMIT_RPC_WAITING_SIZE (64 * MIB)

/* Results of a child hub that nobody has taken yet, for each call, before no more are read from
 * it; and what it has not read, before it is told no more. One message fits in any case. */
#define LIMIT_PEER_QUEUE  (1 * MIB)
#define LIMIT_PEER_UNREAD (256 * KIB)

/* Child hubs in the settings. Each is a process once somebody needs it. */
#define LIMIT_HUBS 64

/* Hubs on the way of one question. Nobody nests so deep; a chain that does not end is a mistake. */
#define LIMIT_HUB_HOPS 8

/* Lines between what two texts begin and end with that are compared one by one; each takes
 * some hundred bytes. Beyond, all of them count as replaced. */
#define LIMIT_DIFF_LINES ((int64_t)1024 * 1024)

/* A file as it was, rebuilt. The line that tells of it is no longer, but one edit may
 * replace a byte by a megabyte, everywhere. */
#define LIMIT_FILE_REBUILT (64 * MIB)

/* Bytes that all edits of one call may go through. Real ones are a few, of files of some KiB. */
#define LIMIT_EDIT_WORK ((size_t)1 * GIB)

/* A note: what a person writes, or a page that is pasted. It is searched as one document. Names of bookmarks,
 * tags, sessions and cursors are typed and stand in columns. */
#define LIMIT_NOTE	      (64 * KIB)
#define LIMIT_ANNOTATION_NAME 100

/* Sub-agents that may be speaking at once. Dozens are many; of more the oldest are taken to have ended. */
#define LIMIT_CHAT_SPEAKERS 1000

/* What a client has going in the background at once; a machine has not that many processes to spare for it. */
#define LIMIT_BACKGROUND 1000

/* Events of an agent that wait to be written, before no more is read from it. A transaction of these takes
 * some 10 ms. */
#define LIMIT_FEED (512 * KIB)

/* How long the end of an agent waits for its last lines to be mirrored, in seconds. That takes milliseconds,
 * unless somebody else has just brought in gigabytes that are to be read first. */
#define LIMIT_KEEPER_S 10

/* Data of events that one answer carries, but for the first of them. A tool may print megabytes. */
#define LIMIT_POLL_BYTES (4 * MIB)

/* A file that goes with a prompt, and how many do. The API takes images of 5 MB and requests of 32 MB; and a
 * prompt is a line that has to be parsed. */
#define LIMIT_ATTACHMENT  (5 * MIB)
#define LIMIT_ATTACHMENTS 20

/* Questions of one agent that wait for an answer. Each is a tool of an answer, of it or of a sub-agent. */
#define LIMIT_OPEN_QUESTIONS 1000

/* A rule about tools: its tool's name, and its pattern, which is read by people. And the steps that comparing it
 * with one question may take, some nanoseconds each: commands of some KiB take as many. Who has more to hide is
 * not allowed anything, and denied what might be meant. */
#define LIMIT_RULE_TOOL	   256
#define LIMIT_RULE_PATTERN (4 * KIB)
#define LIMIT_RULE_STEPS   ((int64_t)4 * 1000 * 1000)

/* Lists of documents that a search takes from the full-text index at once, and words of a phrase that are followed in
 * them. A word that every one of four million documents has fits; where more is asked for, it is slower. */
#define LIMIT_POSTING_BYTES (32 * MIB)
#define LIMIT_POSTING_WORDS 64

/* SQL that somebody typed. Its text; a value of it, which a line that is parsed has to fit into; the columns
 * of a result, which a person reads; and all memory that SQLite takes for it, sorting included. */
#define LIMIT_SQL_TEXT	  (1 * MIB)
#define LIMIT_SQL_VALUE	  LIMIT_LINE_PARSED
#define LIMIT_SQL_COLUMNS 100
#define LIMIT_SQL_MEMORY  (512 * MIB)

/* A template that people write. The shipped ones have some hundred bytes. */
#define LIMIT_TEMPLATE (256 * KIB)

/* Its delimiters. Two characters are usual. */
#define LIMIT_DELIMITER 32

/* Sections and templates inside of each other. Five are a lot; what goes further is a template
 * that contains itself, over data that is not nested so deep. */
#define LIMIT_TEMPLATE_DEPTH 256

/* What rendering may do, in steps of some nanoseconds each: less than a second. A conversation of
 * 100,000 messages takes two million. */
#define LIMIT_TEMPLATE_STEPS (16 * 1000 * 1000)

/* What a template may print. No line that is read is longer. */
#define LIMIT_RENDERED LIMIT_LINE_PARSED

/* The WAL is cut back to this after a checkpoint; a reader can pin more. */
#define LIMIT_WAL_BYTES (32 * MIB)

#endif
