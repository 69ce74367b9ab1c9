#!/bin/sh
# An activation in a language that nothing else here is written in, made from
# docs/EXTENDING.md alone: every part of the page is used. It keeps books on a shelf.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
mkdir -p "$T/.config/arbor"
cat >"$T/shelf.pl" <<'END'
#!/usr/bin/perl
use strict; use warnings;
use JSON::PP; use MIME::Base64;

$| = 1;                                        # "Flush after each line"
my $json = JSON::PP->new->canonical->utf8;     # one line each
my $dir = $ENV{SHELF} // die "SHELF is not set\n";
my ($me, $version) = ('shelf', '2.1.0');

sub send_message { print $json->encode({ jsonrpc => '2.0', @_ }), "\n" }
sub item { my ($id, $item) = @_; send_message(method => '$/item', params => { id => $id, item => $item }) }
sub refuse { die { code => $_[0], message => $_[1] } }
sub escape { my $s = shift; $s =~ s/([%:\x00-\x1f])/sprintf '%%%02X', ord $1/ge; $s }
sub unescape { my $s = shift; $s =~ s/%([0-9A-Fa-f]{2})/chr hex $1/ge; $s }
# A name becomes a file: never believe it.
sub path { my $n = shift; refuse(-32602, 'a name has letters, digits, blanks and : % .') unless defined $n && $n =~ /\A\w[\w :%.]*\z/; "$dir/$n" }
sub slurp { my $p = path($_[0]); open my $f, '<:raw', $p or refuse(-e "$p.gone" ? (-32016, "'$_[0]' was thrown away") : (-32001, "there is no '$_[0]'")); local $/; <$f> }
sub book { my $n = shift; { name => $n, bytes => length slurp($n), handle => "$me\@${version}::book:" . escape($n) } }

my %text = (type => 'string');
my %methods = (
	put => { summary => 'Put a book on the shelf', scope => 'write', words => ['name'], required => ['name', 'text'],
		params => { name => { %text, description => 'its title' }, text => \%text, times => { type => 'integer', minimum => 1, maximum => 9 } } },
	list => { summary => 'List all books', streaming => JSON::PP::true, params => {} },
	read => { summary => 'Give a book as it is', streaming => JSON::PP::true, words => ['name'], required => ['name'], params => { name => \%text },
		result => { %text, contentEncoding => 'base64' } },
	drop => { summary => 'Throw a book away', scope => 'write', required => ['name'], params => { name => \%text } },
	work => { summary => 'Take long', params => {} },
	lend => { summary => 'Lend a book', scope => 'write', words => ['name', 'borrower'], required => ['name', 'borrower'], params => { name => \%text, borrower => \%text } },
);

my %do = (
	'hub.info' => sub { { protocol => 1, name => $me, version => $version, plugins => [{ name => $me, version => $version, majors => [1] }] } },
	'hub.schema' => sub {
		my ($id, $p) = @_; my $n = 0;
		for my $m (sort keys %methods) {
			next if defined $p->{method} && $p->{method} ne $m;
			my %s = %{ $methods{$m} };
			my $params = { type => 'object', properties => delete $s{params}, required => delete $s{required} // [] };
			item($id, { name => $m, schema => { scope => 'read', %s, params => $params } }); $n++;
		}
		item($id, { name => 'shelf::book', type => 'handle', schema => { summary => 'a book' } });
		$n + 1;
	},
	'hub.resolve' => sub {
		my ($id, $p) = @_;
		my ($major, $kind, @meta) = $p->{handle} =~ /\@(\d+)[^:]*::([^:]*)(?::([^:]*))?/ or refuse(-32018, 'this is no handle of mine');
		refuse(-32018, "there are only books here, no '$kind'") if $kind ne 'book';
		my $name = unescape($meta[0] // '');
		$name = lc $name if $major == 1;       # titles were in capitals then
		my $b = book($name); $b->{text} = slurp($name);
		{ kind => 'document', plugin => $me, version => $version, method => $kind, data => $b };
	},
	put => sub { my ($id, $p) = @_; my $f = path($p->{name}); unlink "$f.gone"; open my $o, '>:raw', $f or refuse(-32010, "$f: $!"); print $o $p->{text} x ($p->{times} // 1); close $o; book($p->{name}) },
	list => sub { my ($id) = @_; my $n = 0; opendir my $d, $dir; for (sort grep { !/^\./ && !/\.gone$/ } readdir $d) { item($id, book($_)); $n++ } $n },
	read => sub { my ($id, $p) = @_; my $all = slurp($p->{name}); my $n = length $all;
		while (length $all) { send_message(method => '$/bytes', params => { id => $id, base64 => encode_base64(substr($all, 0, 3000, ''), '') }) } $n },
	drop => sub { my ($id, $p) = @_; slurp($p->{name}); rename path($p->{name}), path($p->{name}) . '.gone'; { name => $p->{name} } },
	lend => sub { { name => $_[1]{name}, borrower => $_[1]{borrower} } },
	work => sub { my ($id) = @_;
		for (1 .. 4) { select undef, undef, undef, 0.5; send_message(method => '$/progress', params => { id => $id, what => 'working', done => $_, total => 4 }) }
		send_message(method => '$/note', params => { id => $id, text => 'that was hard' }); {} },
);

while (my $line = <STDIN>) {
	my $r = $json->decode($line);
	next unless defined $r->{id};                  # a notice
	my $result = eval { ($do{$r->{method}} or refuse(-32601, "no method '$r->{method}'"))->($r->{id}, $r->{params} // {}) };
	if (my $e = $@) { send_message(id => $r->{id}, error => ref $e ? $e : { code => -32010, message => "$e" }) }
	else { send_message(id => $r->{id}, result => $result) }
}
END
chmod +x "$T/shelf.pl"
mkdir "$T/books"
printf '{ "hubs": { "library": { "command": ["~/shelf.pl"], "env": { "SHELF": "%s" } }, "poor": { "command": ["~/shelf.pl"] } } }\n' "$T/books" >"$T/.config/arbor/settings.json"

it "is shorter than a hundred lines"
check test "$(wc -l <"$T/shelf.pl")" -lt 100

it "answers, or says why it does not"
arbor hubs; code 0; out_has 'library	ready	shelf 2.1.0'
out_has 'poor: ended with code 255: SHELF is not set'
sed -i 's/, "poor": { [^}]*}//' "$T/.config/arbor/settings.json"

it "takes parameters as they are described"
arbor call library.put Dune --text 'A beginning is a very delicate time. ' --times 3; code 0; out_has '"bytes":111'
arbor call library.put '{"name":"2001: A 100%","text":"open"}'; code 0; out_has '"handle":"shelf@2.1.0::book:2001%3A A 100%25"'
arbor call library.put Dune --text x --times 10; code 2; err_has '--times: 10 is not between 1 and 9'
arbor call library.put Dune; code 2; err_has '--text: missing'
arbor call library.put ../../x --text x; code 2; err_has 'library: a name has letters'
arbor complete call library.put --t; out_has '--text'; out_has '--times'

it "gives several results, and bytes"
arbor call library.list; code 0; check test "$(wc -l <"$T/out")" -eq 2
arbor call library.read Dune; code 0; check test "$(wc -c <"$T/out")" -eq 111
head -c 100000 /dev/urandom >"$T/books/noise"; arbor call library.read noise; code 0; same "$T/books/noise" "$T/out"
rm "$T/books/noise"

it "resolves its handles, with escapes and of an older major"
arbor resolve 'shelf@2.1.0::book:2001%3A A 100%25' --json; code 0; out_has '"text":"open"'; out_has '"by":"library"'
arbor resolve 'shelf@2.0.0::book:Dune' --json; code 0
mv "$T/books/Dune" "$T/books/dune"
arbor resolve 'shelf@1.4.0::book:DUNE' --json; code 0; out_has '"name":"dune"'; out_has '"handle":"shelf@1.4.0::book:DUNE"'
arbor call library.list | grep -o '"handle":"[^"]*"' | cut -d '"' -f 4 >"$T/handles"
while read -r h; do arbor resolve "$h"; code 0; done <"$T/handles"

it "tells what is not there, gone, and not known"
arbor resolve shelf@2.0.0::book:nothing; code 1; err_has "library: there is no 'nothing'"
arbor call library.drop --name dune; code 0
arbor resolve shelf@2.0.0::book:dune; code 1; err_has "library: 'dune' was thrown away"
arbor resolve shelf@2.0.0::page:1; code 1; err_has "only books here"
arbor resolve shelf@3.0.0::book:x; code 1; err_has 'it is of shelf 3.0.0, and library has another version'
arbor resolve shelf@2.0.0::book:..%2F..%2Fx; code 2; err_has 'a name has letters'
arbor call library.nothing; code 1; err_has "library: no method 'nothing'"

it "may take long, if it says so"
sed -i 's/"env": { "SHELF": "[^"]*" }/&, "timeout_ms": 1500/' "$T/.config/arbor/settings.json"
arbor call library.work; code 0; err_has 'that was hard'

it "has its words in the order it says, though its language sorts them"
arbor call library.lend Dune Ann; code 0; out_is '{"v":1,"borrower":"Ann","name":"Dune"}'

it "is explained, and is in completion and in the schema of everything"
arbor help library.lend; code 0; out_has 'Usage: arbor call library.lend NAME BORROWER'
arbor help library; code 0; out_has 'library.put  '; out_lacks 'shelf::book'
arbor complete call library.l; out_has 'library.lend	Lend a book'
arbor call hub.schema library.shelf::book; code 0; out_has '"type":"handle"'

it "is rendered by a template, and drawn in a tree, also from two hubs away"
arbor call library.put Emma --text 'Handsome, clever, and rich'; code 0
arbor call mustache.set shelf@2 book --template '{{{name}}} ({{{bytes}}})'; code 0
arbor render shelf@2.1.0::book:Emma; code 0; out_is 'Emma (26)'
mkdir -p "$T/near/arbor" "$T/here/arbor"
away() { printf '{ "hubs": { "%s": { "command": ["%s", "rpc", "--stdio"], "env": { "ARBOR_HOME": "%s", "XDG_CONFIG_HOME": "%s" } } } }\n' "$1" "$ARBOR" "$2" "$3"; }
away far "$T/store-far" "$T/.config" >"$T/near/arbor/settings.json"
away near "$T/store-near" "$T/near" >"$T/here/arbor/settings.json"
here() { XDG_CONFIG_HOME="$T/here" "$ARBOR" "$@" >"$T/out" 2>"$T/err" </dev/null; rc=$?; }
here resolve shelf@2.1.0::book:Emma --json; code 0; out_has '"by":"near.far.library"'
here resolve near.far.library.shelf@2.1.0::book:dune; code 1; err_has "near: far: library: 'dune' was thrown away"
here call arbor.tree_create; tree=$(sed 's/.*"id":"\([^"]*\)".*/\1/' "$T/out")
for h in Emma dune nothing ..%2Fx; do here call arbor.node_create_external "$tree" --handle "shelf@2.1.0::book:$h"; code 0; done
here call arbor.tree_render "$tree"; code 0; out_has '→ Emma (26)'; out_has 'book:dune (gone)'; out_has 'book:nothing (not found)'; out_has 'x (failed)'
here call near.far.library.put x --text y; code 7; err_has "near: far: library.put needs the scope 'write'"

it "asks only for the scope it says"
printf '{"jsonrpc":"2.0","id":%s,"method":"library.%s","params":{"name":"x","text":"x"}}\n' 1 put 2 list | "$ARBOR" rpc --stdio >"$T/out" 2>"$T/err"
check test "$(grep -c '"code":-32008' "$T/out")" -eq 1; out_has '"result":'
the_end
