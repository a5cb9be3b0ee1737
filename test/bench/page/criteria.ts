import type { BenchmarkName } from '../options.ts';

/** A line of the page's first table: one figure that has a target, with what it is made of. */
export interface Criterion {
  /** Number in the benchmark set. */
  id: string;
  what: string;
  set: BenchmarkName;
  /** Rows of the set's report; where several fit, the last: that of the largest size. */
  figure: RegExp;
  ours?: RegExp;
  baseline?: RegExp;
  /** What others publish of the same kind. */
  peers?: string;
}

/** @see perf-reliability A1 to A3 */
export const CRITERIA: readonly Criterion[] = [
  {
    id: '1a',
    what: 'one-computer actions, end to end / bare no-op workflows',
    set: 'single',
    figure: /^single actions over no-op/,
    ours: /^single actions per second/,
    baseline: /^no-op workflows per second/,
    peers: 'Temporal on PostgreSQL: users quote 50-200 workflow starts/s; Python SDK 73-86 one-step workflows/s',
  },
  {
    id: '1b',
    what: 'computers completed in one group / bare no-op workflows, by processor time',
    set: 'snaps',
    figure: /: no-op workflow over computer, CPU/,
    ours: /: CPU per computer$/,
    baseline: /: CPU per no-op workflow$/,
  },
  {
    id: '1b',
    what: 'the same per second',
    set: 'snaps',
    figure: /: computers over no-op workflows/,
    ours: /: computers per second/,
    baseline: /: no-op workflows per second/,
    peers: 'Uyuni: batches of 200 minions, 1 s apart; AWS SSM Run Command: concurrency 50',
  },
  {
    id: '1c',
    what: 'commits per computer / per no-op workflow',
    set: 'snaps',
    figure: /: commits, computer over no-op/,
    ours: /: commits per computer$/,
    baseline: /: commits per no-op/,
  },
  {
    id: '1c',
    what: 'log bytes per computer / per no-op workflow',
    set: 'snaps',
    figure: /: log bytes, computer over no-op/,
    ours: /: log bytes per computer$/,
    baseline: /: log bytes per no-op/,
  },
  {
    id: '2a',
    what: 'a page of 1,000 computers / bare SQL of the same rows',
    set: 'computers',
    figure: /: over bare SQL: page/,
    ours: /: page of 1,000 \(.*, p50$/,
    baseline: /: page of 1,000 \(.*, bare p50$/,
    peers: 'Fleet, 45,000 hosts: 1,000 rows in 640 ms',
  },
  {
    id: '2b',
    what: 'worst selector / its bare SQL',
    set: 'computers',
    figure: /: worst selector over bare SQL/,
    peers: 'Fleet, 15,000 hosts, whole list: p95 1.46 s',
  },
  { id: '2b', what: 'slowest selector', set: 'computers', figure: /: slowest selector/ },
  { id: '2c', what: 'statements of a page with every block', set: 'computers', figure: /: statements: / },
  {
    id: '3a',
    what: 'a page of 1,000 activities with its count / bare SQL',
    set: 'activities',
    figure: /^over bare SQL: page/,
    ours: /: page of 1,000 \(.*, p50$/,
    baseline: /: page of 1,000 \(.*, bare p50$/,
  },
  {
    id: '3a',
    what: 'the worst page of 1,000 activities for somebody who sees one access group / bare SQL',
    set: 'activities',
    figure: /^over bare SQL, seeing one access group/,
  },
  { id: '3b', what: 'deepest offset / offset 0', set: 'activities', figure: /^offset, over the first page/ },
  {
    id: '4a',
    what: 'POST /snaps to a group: accepted, p95',
    set: 'snaps',
    figure: /^[\d,]+: accepted alone, p95$/,
    peers: 'Ansible Automation Platform 2.6, any REST call: p50 500 ms, p99 1.5 s',
  },
  {
    id: '4b',
    what: 'all messages queued / bare INSERT of the same rows',
    set: 'growth',
    figure: /: all queued over the bare INSERT/,
    ours: /: all queued$/,
    baseline: /\d: bare INSERT/,
  },
  {
    id: '4c',
    what: 'group done by agents over HTTP',
    set: 'snaps',
    figure: /^[\d,]+: all done$/,
    peers: 'Uyuni: batches of 200 minions, 1 s apart; Fleet: scripts to 5,000 hosts per request',
  },
  { id: '4d', what: 'growth of the time to queue', set: 'growth', figure: /^growth .*: all queued/ },
  { id: '4d', what: 'growth of the time to be done', set: 'growth', figure: /^growth .*: all done/ },
  { id: '4d', what: 'growth of peak memory', set: 'growth', figure: /^growth .*: peak memory/ },
  { id: '4e', what: 'memory added by a group', set: 'snaps', figure: /: memory added/ },
  {
    id: '5a',
    what: 'pings per core / bare Node and one UPDATE',
    set: 'checkins',
    figure: /^pings over bare/,
    ours: /^ping: per core/,
    baseline: /^bare: per core/,
    peers: 'Fleet, 50,000 hosts every 10 s: 13,900 requests/s, 96.7 % of them with nothing useful',
  },
  {
    id: '5b',
    what: 'computers carried per core (ping 30 s, exchange 15 min)',
    set: 'checkins',
    figure: /^computers per core/,
    peers:
      'Fleet: 15,000 hosts per app core at 10 s; Elastic: 100,000 agents on 16 vCPU + 128 vCPU; Mender: 100,000 on 16 vCPU',
  },
  {
    id: '5c',
    what: 'exchange of 100 messages of 1 kB / bare parse and INSERT',
    set: 'exchanges',
    figure: /^full exchange over bare/,
    ours: /^full exchange: CPU$/,
    baseline: /^bare JSON\.parse/,
  },
  {
    id: '6a',
    what: 'GET with token / bare Express',
    set: 'auth',
    figure: /^GET \/person over bare/,
    ours: /^product: requests per core/,
    baseline: /^bare: requests per core/,
    peers: 'Fastify benchmarks, 4 vCPU: Express 5 27,800 requests/s, with middlewares 22,400',
  },
  { id: '6b', what: 'all middleware of a request', set: 'auth', figure: /^all middleware/ },
  {
    id: '7',
    what: 'cold start of the embedded stack to its first workflow',
    set: 'startup',
    figure: /^cold start to first/,
    baseline: /^bare parts together/,
  },
  { id: '7', what: 'cold start / sum of its bare parts', set: 'startup', figure: /^cold start over/ },
  { id: '7', what: 'warm start', set: 'startup', figure: /^warm start to first/ },
  {
    id: '8',
    what: 'everything killed: until a POST is accepted, beyond an ordered restart',
    set: 'recovery',
    figure: /^killed, beyond/,
    ours: /^killed: until a POST/,
    baseline: /^ordered restart: until a POST/,
  },
  {
    id: '8',
    what: 'open operations done per second / undisturbed',
    set: 'recovery',
    figure: /^open operations done per/,
  },
  {
    id: '9',
    what: 'logins per core / bare argon2id',
    set: 'login',
    figure: /^POST \/login over/,
    ours: /^login: per core/,
    baseline: /^bare argon2id/,
  },
  { id: '9', what: "others' p99 in a storm of logins / without", set: 'login', figure: /^others p99 .* over none/ },
  {
    id: '10',
    what: 'detailed report on five audits / COPY of its rows',
    set: 'report',
    figure: /^detailed: report over COPY/,
    ours: /^detailed: report made/,
    baseline: /^detailed: COPY/,
    peers: 'Landscape: security profiles for up to 1,000 clients',
  },
  { id: '10', what: 'memory added by the report', set: 'report', figure: /^detailed: memory added/ },
  { id: '11', what: 'soak: memory', set: 'soak', figure: /^memory of our processes, trend$/ },
  { id: '11', what: 'soak: p99 of a list', set: 'soak', figure: /^list p99, trend$/ },
  { id: '11', what: 'soak: tables', set: 'soak', figure: /^size of the tables.*, trend$/ },
  {
    id: '12',
    what: "p95 of one account's single action while another acts on a large group / alone",
    set: 'fairness',
    figure: /^meanwhile over alone, p95/,
    ours: /^single action meanwhile, p95/,
    baseline: /^single action alone, p95/,
  },
  {
    id: '13',
    what: 'profiles due at one moment: lateness, p99',
    set: 'scheduler',
    figure: /: lateness, p99$/,
    baseline: /: bare claim/,
    peers: 'Temporal Cloud: 10 schedule requests/s',
  },
  { id: '-', what: 'action with traces / without, CPU', set: 'observability', figure: /^action with traces/ },
  { id: '-', what: 'GET with traces / without, CPU', set: 'observability', figure: /^GET with traces/ },
  { id: '-', what: 'gauges of the fleet, one reading', set: 'observability', figure: /^gauges .* one reading/ },
];
