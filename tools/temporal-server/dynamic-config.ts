/** The defaults protect shared clusters and would only slow us down. @see docs/reliability.md#rules-for-benchmarks */
const LIMITS = {
  'frontend.rps': 100_000,
  'frontend.namespaceRPS': 100_000,
  'frontend.namespaceRPS.visibility': 1000,
  'frontend.persistenceMaxQPS': 100_000,
  'history.rps': 100_000,
  'history.persistenceMaxQPS': 100_000,
  // A slice of a queue that is narrowed to the only namespace cannot be merged with the next one: each new task then reads
  // all tasks of the last 30 s.
  'history.queueShrinkPredicateMaxPendingKeys': 0,
  // Of each shard: above the default of 20, a workflow task after a signal waits up to 50 ms until it is read.
  'history.transferProcessorMaxPollRPS': 1000,
  'matching.rps': 100_000,
  'matching.persistenceMaxQPS': 100_000,
  // Of profiles due at one moment, those above the limit would be delayed by seconds, again and again.
  'worker.schedulerNamespaceStartWorkflowRPS': 1000,
  // The server runs schedules by two pollers; what they do not reach within 5 s is replayed from its history.
  'worker.perNamespaceWorkerOptions': { MaxConcurrentWorkflowTaskPollers: 16, StickyScheduleToStartTimeout: '60s' },
} as const;

/** A value as the server reads it from YAML. */
export type DynamicValue = number | boolean | Readonly<Record<string, number | string>>;

/** Priorities and fairness on every partition of a task queue. @see docs/architecture.md#priority-and-fairness */
const FAIRNESS = {
  'matching.useNewMatcher': true,
  'matching.enableFairness': true,
} as const;

/** Settings of a server in SQLite, which knows one machine only. */
export const LOCAL_DYNAMIC_CONFIG: Readonly<Record<string, DynamicValue>> = {
  ...LIMITS,
  ...FAIRNESS,
  // The default is for machines that do nothing else.
  'history.hostLevelCacheMaxSize': 8096,
  'matching.numTaskqueueReadPartitions': 1,
  'matching.numTaskqueueWritePartitions': 1,
  // Most of what the server does while idle is answering its own long polls.
  'worker.perNamespaceWorkerOptions': {
    ...LIMITS['worker.perNamespaceWorkerOptions'],
    MaxConcurrentWorkflowTaskPollers: 8,
  },
  'worker.ParentCloseMaxConcurrentActivityTaskPollers': 1,
  'worker.ParentCloseMaxConcurrentWorkflowTaskPollers': 2,
  'worker.ScannerMaxConcurrentActivityTaskPollers': 1,
  'worker.ScannerMaxConcurrentWorkflowTaskPollers': 2,
};

/** Settings of a dedicated server on PostgreSQL; docker-compose.yml uses the same. */
export const SERVER_DYNAMIC_CONFIG: Readonly<Record<string, DynamicValue>> = { ...LIMITS, ...FAIRNESS };
