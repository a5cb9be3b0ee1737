/** A layer and what it may use, besides itself and the Node packages that its own rules allow. */
export interface Layer {
  path: string;
  /** Its contents, for the architecture page. */
  holds: string;
  mayUse: readonly string[];
}

/** A subject with the same name in every layer. */
export interface Area {
  name: string;
  /** Its contents, for the architecture page. */
  holds: string;
  /** Areas of the same layer; across layers only the rules of the layers apply. */
  mayUse: readonly string[];
}

/** The layers of the application and its tools. Each file is in exactly one of them. */
export const LAYERS: readonly Layer[] = [
  { path: 'src/process', holds: 'settings, logging, metrics, tracing, admission, life cycle', mayUse: [] },
  { path: 'src/domain', holds: 'rules and value types, pure', mayUse: [] },
  { path: 'src/protocol', holds: 'the encoding of agent messages', mayUse: [] },
  { path: 'src/persistence', holds: 'entities, migrations, statements', mayUse: ['src/domain', 'src/process'] },
  {
    path: 'src/services',
    holds: 'use cases and their ports',
    mayUse: ['src/domain', 'src/persistence', 'src/process'],
  },
  {
    path: 'src/api',
    holds: 'OpenAPI document, middleware, handlers, response format',
    mayUse: ['src/domain', 'src/services', 'src/process'],
  },
  {
    path: 'src/gateway',
    holds: 'the HTTP server for agents',
    mayUse: ['src/domain', 'src/protocol', 'src/persistence', 'src/services', 'src/process'],
  },
  {
    path: 'src/server',
    holds: 'the process of API and gateway',
    mayUse: ['src/api', 'src/gateway', 'src/services', 'src/persistence', 'src/process', 'temporal'],
  },
  { path: 'workflows', holds: 'workflow code and its contracts, deterministic', mayUse: ['src/domain'] },
  {
    path: 'temporal',
    holds: 'connection, encryption, bootstrap, schedules',
    mayUse: ['workflows/contracts', 'src/services/common/ports.ts', 'src/domain', 'src/process'],
  },
  {
    path: 'workers',
    holds: 'the worker process and its Temporal activities',
    mayUse: ['workflows', 'temporal', 'src/services', 'src/persistence', 'src/domain', 'src/process'],
  },
  { path: 'packages/client', holds: 'the client library of the API', mayUse: [] },
  { path: 'packages/cli', holds: 'the command line `flotilla`', mayUse: ['packages/client'] },
  { path: 'web/src/styles', holds: 'colours, sizes, themes and the base style', mayUse: [] },
  { path: 'web/src/url', holds: 'the state of a view in its address', mayUse: [] },
  {
    path: 'web/src/ui',
    holds: 'what several pages show: tables, forms, dialogs, states',
    mayUse: ['packages/client', 'web/src/url'],
  },
  { path: 'web/src/api', holds: 'the client with the session of the browser', mayUse: ['packages/client'] },
  {
    path: 'web/src/session',
    holds: 'signing in and out, permissions',
    mayUse: ['packages/client', 'web/src/api', 'web/src/ui', 'web/src/url'],
  },
  { path: 'web/src/live', holds: 'the stream of events', mayUse: ['packages/client', 'web/src/api'] },
  {
    path: 'web/src/query',
    holds: 'the field for queries, with completion',
    mayUse: ['packages/client', 'web/src/api', 'web/src/session', 'web/src/ui'],
  },
  {
    path: 'web/src/acting',
    holds: 'the forms of all actions on computers',
    mayUse: [
      'packages/client',
      'web/src/api',
      'web/src/session',
      'web/src/live',
      'web/src/query',
      'web/src/ui',
      'web/src/url',
    ],
  },
  {
    path: 'web/src/pages',
    holds: 'the pages, a folder each',
    mayUse: [
      'packages/client',
      'web/src/api',
      'web/src/session',
      'web/src/live',
      'web/src/query',
      'web/src/acting',
      'web/src/ui',
      'web/src/url',
    ],
  },
  { path: 'web/src/app', holds: 'routes, navigation, the command palette', mayUse: ['packages/client', 'web/src'] },
  {
    path: 'tools/temporal-server',
    holds: 'the Temporal server that `npm start` and tests run',
    mayUse: ['src/domain', 'src/process'],
  },
  {
    path: 'tools/stack',
    holds: '`npm start`, `npm run topology` and the commands of operators',
    mayUse: [
      'tools/temporal-server',
      'workers',
      'workflows/contracts',
      'temporal',
      'src/services',
      'src/persistence',
      'src/domain',
      'src/process',
    ],
  },
  { path: 'tools/simulator', holds: 'the simulated fleet', mayUse: ['src/protocol', 'src/process'] },
  {
    path: 'tools/docs',
    holds: 'what generates parts of the documentation',
    mayUse: ['src/process'],
  },
  {
    path: 'tools/harness',
    holds: 'a whole stack in processes, for benchmarks, the fault driver and tests',
    mayUse: ['tools/stack', 'tools/simulator', 'tools/temporal-server', 'temporal', 'packages/client', 'src'],
  },
  {
    path: 'tools/bench',
    holds: 'benchmarks',
    mayUse: ['tools/harness', 'tools/stack', 'tools/simulator', 'tools/temporal-server', 'temporal', 'src'],
  },
  {
    path: 'tools/screenshots',
    holds: 'pictures of the page for the documentation',
    mayUse: ['tools/harness', 'packages/client'],
  },
  {
    path: 'tools/faults',
    holds: 'the fault driver',
    mayUse: ['tools/harness', 'tools/stack', 'tools/simulator', 'temporal', 'src'],
  },
];

/** Layers that are divided into {@link AREAS}. */
export const DIVIDED = ['src/domain', 'src/persistence', 'src/services', 'src/api'] as const;

/** In `src/persistence` and `src/api` every area may also use the layer's own infrastructure. */
const FRAME = ['common', 'database', 'http', 'openapi'];

/** The areas, the lowest first. */
export const AREAS: readonly Area[] = [
  { name: 'common', holds: 'what several areas need: errors, times, password hashing', mayUse: ['database'] },
  { name: 'database', holds: 'SQL, transactions, pages, locks (persistence only)', mayUse: [] },
  { name: 'openapi', holds: 'the document of the API and its generated types (api only)', mayUse: [] },
  { name: 'http', holds: 'requests and responses whatever the resource (api only)', mayUse: ['openapi'] },
  { name: 'identity', holds: 'accounts, people, roles, access groups, login, tokens', mayUse: FRAME },
  { name: 'events', holds: 'events for clients, the event log and alerts', mayUse: [...FRAME, 'identity', 'query'] },
  { name: 'query', holds: 'the query language and its translation to SQL', mayUse: [...FRAME, 'events', 'activities'] },
  {
    name: 'activities',
    holds: 'activities, their groups, delivery and outbox',
    mayUse: [...FRAME, 'identity', 'events', 'query'],
  },
  { name: 'schedules', holds: 'recurrence rules, cron and the dates of profiles', mayUse: [...FRAME, 'activities'] },
  {
    name: 'scripts',
    holds: 'scripts and script profiles',
    mayUse: [...FRAME, 'identity', 'activities', 'query', 'schedules'],
  },
  {
    name: 'compliance',
    holds: 'USG profiles, audits and reports',
    mayUse: [...FRAME, 'identity', 'activities', 'query', 'schedules'],
  },
  {
    name: 'computers',
    holds: 'computers and their processes, power, recovery keys, tags, saved searches',
    mayUse: [...FRAME, 'identity', 'activities', 'query', 'scripts'],
  },
  {
    name: 'software',
    holds: 'packages, snaps, kernels',
    mayUse: [...FRAME, 'identity', 'activities', 'computers', 'query'],
  },
  {
    name: 'engine',
    holds: 'what moves operations: results, due times, expiry, chains, reapply and revert, repairs',
    mayUse: [...FRAME, 'activities', 'schedules', 'scripts', 'compliance'],
  },
  {
    name: 'agents',
    holds: 'registrations, message sessions and reported facts of computers (domain and persistence only)',
    mayUse: [...FRAME, 'activities', 'computers', 'query'],
  },
  { name: 'import', holds: 'import of an account from a document', mayUse: FRAME },
  {
    name: 'orm',
    holds: 'the MikroORM set-up and its migrations (persistence only)',
    mayUse: [
      ...FRAME,
      'identity',
      'events',
      'activities',
      'schedules',
      'scripts',
      'compliance',
      'computers',
      'software',
      'agents',
    ],
  },
  {
    name: 'setup',
    holds: 'puts the services together (services only)',
    mayUse: ['common', 'identity', 'events', 'activities', 'scripts', 'compliance', 'computers', 'software', 'engine'],
  },
  {
    name: 'app',
    holds: 'puts the API together (api only)',
    mayUse: [...FRAME, 'identity', 'events', 'activities', 'scripts', 'compliance', 'computers', 'software'],
  },
];

/** Maximum number of files in a folder; a longer list hides a second subject. */
export const MAX_FILES = 24;

/** Folders of records, exempt from the maximum because nobody reads them as a whole. */
export const RECORDS = ['src/persistence/orm/migrations', 'test/replay/histories', 'docs/benchmarks'];
