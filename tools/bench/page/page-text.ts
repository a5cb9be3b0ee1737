import type { BenchmarkName } from '../options.ts';

/** Start of the page, which is rendered whenever a result is kept. */
export const HEAD = `# Benchmarks

What Flotilla costs, as ratios to the least that could do the same work, measured in one run on one machine. This page and
those of the [benchmarks](#the-benchmarks) are made from \`docs/benchmarks/*.json\`: \`npm run bench -- page\` renders them, and
\`--keep\` with any benchmark replaces its result first.

## How to run them

\`\`\`bash
npm run bench -- all                       # everything, with sizes for a small machine
npm run bench -- all --on topology         # the same with every part a process of its own (npm run topology)
npm run bench -- snaps --computers 1000,10000 --keep
npm run bench -- growth --sizes 1000,10000,100000 --rounds 2 --keep
npm run bench -- soak --minutes 100 --keep
npm run bench -- --help
\`\`\`

Every benchmark starts a stack of its own on free ports in a new folder and removes it at the end. It prints its progress, a
table, and the path of a JSON file with every round in \`build/bench\`. \`all\` also writes one JSON file and one page for
all of them.

How figures come about:

- Flotilla and its baseline are measured in turn, round by round (A-B-B-A), after a warm-up that is dropped. A figure is the
  median of the rounds, with minimum and maximum; a ratio is the median of the ratios of neighbouring rounds.
- Processor time is what the kernel accounts (\`/proc\`) for each process: API, gateway, worker, Temporal, PostgreSQL, supervisor.
  Load generators and simulated agents run in processes of their own that are not counted. Targets are set for processor time
  and ratios; wall times and rates are shown.
- Each benchmark checks its own work: rows in the database, responses, and what the agents executed. If a check fails, the
  result is void.
- Load by other programs and steal are measured in every window. Above 10 % of the machine there is **no verdict** ("not
  judged"): wall times then say little, and processor times are good within about 10 %.
- The rate limits of Temporal are raised (\`tools/temporal-server/dynamic-config.ts\`), because they would be measured otherwise.
- \`embedded\` is \`npm start\`: Temporal writes to SQLite. \`topology\` is two APIs, two gateways, three workers and the official
  Temporal server on the same PostgreSQL, all on one machine: there the figures of PostgreSQL include the writes of Temporal.

## Against the targets

The number is that of the benchmark set. \`x\` is a ratio to the baseline; growth is an exponent (1: proportional to the size,
0: not at all). Load is that of the worst five seconds or more: processor time of other programs, load average. Figures of
others come from their own documents and other hardware; they show what kind of figure to expect.`;

/** Reasons for figures that miss a target or are surprising. */
export const REASONS = `## What is behind some figures

- **1a**, actions on one computer: each is one workflow that starts on the worker of the dispatcher's process, queues the message,
  waits and is signaled: two workflow tasks and a signal, where a no-op is one task. Only where an agent fetches the message before
  the workflow starts and reports within 250 ms, it is one task too. The bare groups, a parent whose one child
  waits for a signal, without a database, an API or agents, are as fast. As two workflows the action reached 0.22 (embedded) and
  0.16 (topology) on another machine. Embedded, two thirds of its processor time are those of Temporal and of the worker. Large
  groups do not pay it per computer: from 26 computers on, one workflow drives up to 5,000 of them (1b).
- **1d**, one action at a time: the processor time includes the agent's pings, every 5 ms, two exchanges, and a client that reads the
  activity every 5 ms. This agent has mostly fetched the message before the workflow starts, whose one task then waits for the
  report. What remains of the latency is that task and four database transactions in turn.
- **1b** is judged by processor time, which is that of the work alone. Per second the ratio is lower, because the simulated agents
  run on the same two cores, share 64 connections, and no group ends before its agents have pinged. With 1,000 connections a group
  of 10,000 ended after 12.4 s instead of 17.9 s (embedded, three rounds), with 1.44 ms of processor time for each computer; the
  API answered in 39 ms meanwhile (p95) instead of 8 ms. The larger part of what a computer costs is the
  gateway handling its pings and exchanges. A wake-up of a batch costs as much as a no-op workflow; large batches of one
  account share theirs. How fast the machine is changes within hours: seven runs of five rounds, of the same code as separate
  processes, had 1.43, 1.51, 1.66, 1.67, 1.75, 1.9 and 2.12 ms for each computer while a no-op workflow took 19.4, 20.8, 23.4,
  24.8, 23.4, 27.4 and 27.8 ms. The ratio was 13.1 to 14.4. One write of exchanges at a time in each gateway, instead of two, made
  no difference (1.75 beside 1.73 ms, two rounds of each, both with a young generation of 32 MiB).
- **3a**, for somebody who sees one access group: the visible activities are found from the computers of the group, their operations
  and the groups of these. Before, a visible child was looked up for each group of activities; PostgreSQL turned that into a join,
  read and sorted all children of all groups, and a page of ten out of 1,000,000 activities took 6.6 s.
- Selectors of activities are held against the targets of those of computers (2b), having none of their own. \`parent-id:\` finds
  its 1,000 rows by an index in a few milliseconds; building the response from them takes longer, as for any page. A word is
  looked for in 1,000,000 summaries, a status in as many rows, and hits are counted exactly, in about the time of the bare SQL.
  An index on the status would find the few in progress immediately, but every operation changes its status twice or
  more, which stays within its page only while no index contains it. An index on the summaries makes the INSERT of a group of
  10,000 slower by 3 to 8 %.
- **4a**, accepted: the p95 is that of actions one after another, each canceled before the next, with agents that ping every
  30 s; the agents of the groups ping more often, so that these end sooner. Nearly all of it is the INSERT of 10,000 rows,
  processor time of one PostgreSQL process: with \`fsync\` off it takes as long. By PostgreSQL's log it takes 102 to 140 ms
  while nothing else is busy, and half as long again while the other core is at work. On an idle server it took 142 ms at best
  (60 ms with the primary key alone); since a group of one operation is written row by row, nothing kept in between, 108. The
  PostgreSQL that npm installs is built to be small (\`-Os\`): version 18.6 built with \`-O2\`, as distributions and images
  do, writes the same rows in 83 ms at best. The slowest ones are stalls of the disk at a commit, or wait for a new segment of
  the log, which PostgreSQL fills with zeros: about 10 ms while nothing else uses the disk, up to 83 beside a soak. Without
  the zeros (\`wal_init_zero\`) the flushes of commits took a third longer together.
- **4b**, all queued: a group waits about 0.2 s for its workflows to start, whatever its size. For small groups that is many
  times the INSERT of their rows; the ratio means something from some thousands of computers on.
- **13**, profiles due at once: each is a Temporal Schedule, and the server works tens of milliseconds on each of thousands that are
  due at one moment. So the outbox dispatcher creates the runs, up to 500 in one transaction; the workflows that the schedules
  start come later, find their run there and plan further dates. The claim of rows is what a scheduler without a workflow
  per date would need.
- **9**, logins: one costs what the product uses beyond a round without logins, so that neither idle processes nor those who
  watch what a storm does to others are counted. Beyond the hash there are three reads and one statement that records the
  success for the person, the throttle and the log. With six statements, and with the watcher logged in as the same person,
  whose permissions were read anew after each login, it missed the first target (0.77 x).
- **10**, memory of a report: what the driver copies of each piece waits outside the heap for a collection. With V8's own
  bound of young objects 64 MiB waited, and the report added 111 MiB; workers start with a smaller one.
- **11**, soak: a trend whose standard error is above its target gets no verdict. The p99 of a list is determined by the few lists that
  come while a group is accepted or delivered, and varies by tenths from window to window. With V8's own bound of young
  objects the memory of all processes grew by 5.3 % in the hour, which was memory of the API beside its heap. Bounded as
  processes are started now (embedded), the API grew by 0.4 MiB an hour of 388 between minutes 25 and 100. By its trace in
  another soak, V8 collects that heap every 15 s, from 200 MiB to 52, and keeps the pages. The worker grew by 10 MiB an hour to
  239, but what it retains did not: collected after 97 minutes, its three heaps held 19, 19 and 43 MiB, as after 10 to 28 minutes
  in an earlier soak (78 to 80 together), and the process 157 MiB instead of 188 (PSS; 150 to 154 in the earlier one). Two
  snapshots of its main heap, 205 s apart, differ by 0.09 of 54 MiB: a buffer of 64 KiB and compiled code.
  To collect more often, or with smaller heaps, costs each exchange more processor time. As separate processes, in 45 minutes after
  the first 15, the APIs had 335 to 354 MiB, the gateways 325 to 345 and the workers 498 to 515; their sum did not grow, within
  0.7 % an hour.
- Traces: every request and every Temporal activity is recorded and sent. \`OTEL_TRACES_SAMPLER\` records a share of them.`;

/** What each benchmark does. */
export const MEASURES: Readonly<Record<BenchmarkName, string>> = {
  startup:
    'cold and warm start to the first POST whose workflow reached its agent, beside initdb, PostgreSQL, Temporal and bundling alone',
  auth: 'an authenticated GET, and one without token, beside bare Express with the same bytes',
  login: 'logins beside bare argon2id of the same cost; what a storm of them does to others',
  checkins: 'pings and empty exchanges beside bare Node with one UPDATE; the window ends when all is stored',
  exchanges: 'exchanges of 100 messages of 1 kB, stored row by row, beside JSON.parse and one INSERT',
  single:
    'actions on one computer each, from the POST to the end of their workflows, beside bare no-op workflows and bare groups; the latency of one at a time',
  intervals:
    'actions on computers with the intervals of the open client, with and without `agent_intervals`, and what polling costs',
  snaps:
    'an action on a group of simulated agents over HTTP: accepted, queued, done, writes, memory, and the API meanwhile',
  growth:
    'actions on groups of several sizes with minimal agents, which exchange one after another: slopes of the logarithms',
  recovery: 'SIGKILL to everything in the middle of an action, beside an ordered restart and an undisturbed action',
  computers: 'pages of computers, selectors, blocks and deep offsets beside the bare SQL of the same rows',
  activities: 'pages of activities, selectors and deep offsets beside the bare SQL of the same rows',
  usg: 'audits of a whole fleet, and many profiles due at one moment',
  scheduler: 'thousands of profiles due at one moment: how late each starts, beside claiming as many rows of a table',
  report: 'reports on five audits of a fleet beside a bare COPY of their rows',
  fairness: 'single actions of one account alone, and while another acts on a large group',
  observability:
    'the same work with and without traces and with metrics read every second; the gauges of a large fleet',
  idle: 'processor time of a product that has nothing to do, without and with registered computers',
  packages:
    'the first package list of a computer whose 70,000 packages the server knows, with and without the file of their ids',
  waiters: 'clients that wait for one activity each: what they cost, and how soon they get its end',
  webhooks: 'events to one webhook while its receiver and the servers are killed, and a replay of them',
  map: 'map and list of a large fleet in a browser: how soon the map is painted, frames while it is moved, rows without content, and events as pixels',
  soak: 'lists, check-ins and an action every ten seconds: trends of memory, times and tables',
};
