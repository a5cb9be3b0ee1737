import * as types from './setting-types.ts';
import { optional, setting } from './setting-types.ts';

/** Every setting, as they follow each other in `docs/settings.md` and `.env.example`, which are generated from here. */
export const SETTINGS = {
  FLOTILLA_HOST: setting(types.text.default('127.0.0.1'), 'API, gateway', {
    about:
      'Address on which API, gateway and documentation listen. When other machines can reach it, `npm start` creates a registration key once, and computers wait to be accepted.',
  }),
  FLOTILLA_PORT: setting(types.port.default(8080), 'API, gateway', {
    about: 'Port of API, gateway and documentation.',
  }),
  FLOTILLA_PUBLIC_URL: setting(optional(types.url('http', 'https')), 'all', {
    about: 'Base URL of links in responses and mails.',
    default: 'made of host and port',
  }),
  FLOTILLA_TRUSTED_PROXIES: setting(types.networks.default([]), 'API, gateway', {
    about:
      'Proxies whose `X-Forwarded-For` is trusted. Behind a proxy that is not listed, all clients appear to have one address and share its limits.',
  }),
  FLOTILLA_WEB_PAGE: setting(types.boolean.default(true), 'API', {
    about:
      'Whether the web page is served at `/`, where it has been built: `npm start` and the container image do that, otherwise `npm run build:web`. Without it `/` leads to the API reference.',
  }),
  FLOTILLA_METRICS_HOST: setting(types.text.default('127.0.0.1'), 'all', {
    about:
      'Address of `/metrics`, `/healthz` and `/readyz` of each process; 0.0.0.0 lets other machines and containers in.',
  }),
  FLOTILLA_METRICS_PORT: setting(types.port.default(9464), 'all', {
    about: 'First port of `/metrics`. Each process takes the next free one and logs it.',
  }),
  FLOTILLA_DATA_DIR: setting(types.text.default('.flotilla'), 'npm start', {
    about: 'Directory of the embedded stack: databases, generated secrets, logs. Relative to the checkout.',
  }),
  FLOTILLA_DATABASE_URL: setting(optional(types.url('postgres', 'postgresql')), 'all', {
    about:
      'External PostgreSQL, `postgres://user:password@host:port/database`. For TLS add `?sslmode=verify-full&sslrootcert=/path/ca.pem` (and `sslcert`, `sslkey`) and use the name of the server, not its address.',
    requiredBy: ['process', 'migrate'],
    isSecret: true,
    default: 'the embedded PostgreSQL under npm start',
  }),
  FLOTILLA_DATABASE_PORT: setting(types.port.default(5433), 'npm start', {
    about: 'Port of the embedded PostgreSQL.',
  }),
  FLOTILLA_DATABASE_POOL_SIZE: setting(types.wholeNumber(4, 200).default(10), 'all', {
    about: 'Database connections of a process. It opens as many again for statements that find rows by key.',
    unit: 'connections',
  }),
  FLOTILLA_DATABASE_STATEMENT_TIMEOUT: setting(types.wholeNumber(0, 86_400).default(120), 'all', {
    about:
      'After how long PostgreSQL cancels a statement (ten times as long in workers); 0 = never. The request gets 503 with `Retry-After`, and nothing is changed.',
    unit: 'seconds',
  }),
  FLOTILLA_DATABASE_LOCK_TIMEOUT: setting(types.wholeNumber(0, 86_400).default(60), 'all', {
    about: 'After how long PostgreSQL ends a wait for a lock; 0 = never.',
    unit: 'seconds',
  }),
  FLOTILLA_DATABASE_IDLE_TIMEOUT: setting(types.wholeNumber(0, 86_400).default(120), 'all', {
    about: 'After how long PostgreSQL ends an abandoned transaction; 0 = never.',
    unit: 'seconds',
  }),
  FLOTILLA_TEMPORAL_ADDRESS: setting(optional(types.hostAndPort), 'all', {
    about: 'External Temporal server.',
    requiredBy: ['process', 'temporal'],
    default: 'the embedded server under npm start',
  }),
  FLOTILLA_TEMPORAL_NAMESPACE: setting(types.text.default('flotilla'), 'all', {
    about: 'Temporal namespace. Two deployments on one Temporal server need two.',
  }),
  FLOTILLA_TEMPORAL_TLS: setting(optional(types.boolean), 'all', {
    about:
      'Whether to connect to the external server over TLS. Without a CA its certificate is checked against the authorities of the system.',
    default: 'true when one of the next five is set, else false',
  }),
  FLOTILLA_TEMPORAL_TLS_CA: setting(optional(types.readableFile), 'all', {
    about: 'PEM file of the authority that signed the server certificate.',
  }),
  FLOTILLA_TEMPORAL_TLS_CERT: setting(optional(types.readableFile), 'all', {
    about: 'PEM file of the client certificate.',
  }),
  FLOTILLA_TEMPORAL_TLS_KEY: setting(optional(types.readableFile), 'all', {
    about: 'PEM file of its key.',
  }),
  FLOTILLA_TEMPORAL_TLS_SERVER_NAME: setting(optional(types.text), 'all', {
    about: 'Name in the server certificate, if it is not the host of the address.',
  }),
  FLOTILLA_TEMPORAL_API_KEY: setting(optional(types.text), 'all', {
    about: 'API key of a hosted namespace.',
    isSecret: true,
  }),
  FLOTILLA_TEMPORAL_PORT: setting(types.port.default(7233), 'npm start', { about: 'Port of the embedded server.' }),
  FLOTILLA_TEMPORAL_UI_PORT: setting(types.port.default(8233), 'npm start', {
    about: 'Port of the embedded web UI.',
  }),
  FLOTILLA_TEMPORAL_UI_URL: setting(optional(types.url('http', 'https')), 'API', {
    about:
      'Address of the list of workflows of the namespace in the Temporal UI, `https://<host>/namespaces/<namespace>/workflows`, to which the web page links.',
    default: 'that of the embedded UI under npm start, else no links',
  }),
  FLOTILLA_TEMPORAL_SERVER_DIR: setting(optional(types.text), 'npm start', {
    about:
      'Directory with `flotilla-temporal` and `temporal-sql-tool`, built elsewhere, or with `temporal-server` and `temporal-sql-tool` of an official release, which have no web UI.',
    default: 'the cache, else a build with Go, else the official download',
  }),
  FLOTILLA_JWT_SECRET: setting(types.secrets(32, 4096).default([]), 'API', {
    about: 'Secrets that sign tokens, newest first: the first signs, all verify.',
    requiredBy: ['process'],
    isSecret: true,
    default: 'generated into the data directory by npm start',
  }),
  FLOTILLA_ENCRYPTION_KEYS: setting(types.encryptionKeys.default([]), 'all', {
    about:
      'AES-256 keys for recovery keys and for everything that Temporal stores, newest first: the first encrypts, all decrypt.',
    requiredBy: ['process', 'temporal'],
    isSecret: true,
    default: 'generated into the data directory by npm start',
  }),
  FLOTILLA_CODEC_TOKEN: setting(optional(types.secret(32, 4096)), 'API', {
    about:
      'Opens `/codec` of an API, which decrypts what Temporal stores. Tokens of people with the permission ManageAccount open it too.',
    isSecret: true,
    default: 'generated into the data directory by npm start, else none',
  }),
  FLOTILLA_CODEC_HOSTS: setting(types.hostNames.default([]), 'API', {
    about: 'Host names under which `/codec` may be called, besides those of `FLOTILLA_PUBLIC_URL` and of this machine.',
  }),
  FLOTILLA_SMTP_URL: setting(optional(types.url('smtp', 'smtps')), 'all', {
    about: 'Server for outgoing mail, `smtp://user:password@host:port`.',
    isSecret: true,
  }),
  FLOTILLA_MAIL_FROM: setting(optional(types.email), 'all', {
    about: 'Sender of mail.',
    default: 'flotilla@ and the host of FLOTILLA_PUBLIC_URL, or localhost',
  }),
  FLOTILLA_DEPLOYMENT: setting(types.oneOf('standalone', 'saas').default('standalone'), 'all', {
    about:
      'One account, or many. In `saas` there is no `POST /standalone-account`: create the first account while it is `standalone`.',
  }),
  FLOTILLA_ADMIN_EMAIL: setting(types.email.default('admin@example.com'), 'npm start', {
    about: 'First administrator, created while there is no account. Set but empty: none is created.',
    takesEmpty: true,
  }),
  FLOTILLA_ADMIN_PASSWORD: setting(optional(types.secret(1, 1024)), 'npm start', {
    about: 'Password of the first administrator. The rules for new passwords apply.',
    isSecret: true,
    default: 'generated, and printed once',
  }),
  FLOTILLA_SETUP_TOKEN: setting(
    optional(
      types.matching(/^(generate|none|\S{16,1024})$/, 'generate, none, or 16 to 1024 characters without spaces'),
    ),
    'API',
    {
      about:
        'What `POST /standalone-account` requires as `setup_token`. `generate`: a token that the first API to start writes to its log. `none`: nothing.',
      isSecret: true,
      default: 'none where FLOTILLA_HOST is a loopback address, else generate',
    },
  ),
  FLOTILLA_SELF_SERVICE_ACCOUNTS: setting(optional(types.boolean), 'API', {
    about: 'Whether people may create accounts for themselves.',
    default: 'true in saas, false in standalone',
  }),
  FLOTILLA_INVITATION_DAYS: setting(types.wholeNumber(1, 365).default(14), 'API', {
    about: 'How long an invitation can be accepted.',
    unit: 'days',
  }),
  FLOTILLA_LOGIN_THROTTLE: setting(types.boolean.default(true), 'API', {
    about: 'Whether failed logins are limited: 20 in 5 minutes per address and name, 100 an hour per name.',
  }),
  FLOTILLA_LOGIN_ADDRESS_LIMIT: setting(types.wholeNumber(20, 1_000_000).default(100), 'API', {
    about:
      'Failed logins and registrations of one address in 5 minutes, whatever the names. Names that have logged in from there before are exempt.',
  }),
  FLOTILLA_PASSWORD_MIN_LENGTH: setting(types.wholeNumber(8, 128).default(12), 'API', {
    about:
      'Minimum length of a new password; the maximum is 128. Common passwords, names and sequences are rejected. Existing passwords and those of PAM are not checked.',
    unit: 'characters',
  }),
  FLOTILLA_ENFORCE_PASSWORD_STRENGTH: setting(types.boolean.default(false), 'API', {
    about:
      'Whether new passwords need an upper case letter, a lower case letter and a digit. `enforce_password_strength` of `POST /standalone-account` overrides it.',
  }),
  FLOTILLA_PAM_SERVICE: setting(optional(types.matching(/^[\w-]{1,64}$/, 'the name of a PAM service')), 'API', {
    about:
      'PAM service (a file of `/etc/pam.d`) that checks logins by `identity`, in 5 seconds at most. People must exist here with the same identity. Needs `python3`, which the container image lacks, and the right to read the password database.',
    default: 'none: the stored password is checked',
  }),
  FLOTILLA_PAM_HELPER: setting(optional(types.matching(/^\//, 'an absolute path')), 'API', {
    about:
      'Program to run instead of the built-in PAM helper. It reads service NUL identity NUL password NUL from standard input; its exit status means yes (0), no (1) or unknown (any other).',
  }),
  FLOTILLA_SIMULATED_COMPUTERS: setting(types.wholeNumber(0, 200_000).default(25), 'npm start', {
    about: 'Simulated computers; 0 = none.',
  }),
  FLOTILLA_LOG_LEVEL: setting(
    types.oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent').default('info'),
    'all',
    { about: '`debug` logs each exchange of an agent and each read of a client.' },
  ),
  FLOTILLA_EMBEDDED: setting(types.boolean.default(false), 'all', {
    about: 'Set by `npm start` for the processes that it runs: they end within seconds and have no rate limits.',
  }),
  FLOTILLA_EVENT_RETENTION_DAYS: setting(types.retentionDays(36_500).default(-1), 'worker', {
    about: 'How long the event log keeps an entry; -1 = forever.',
    unit: 'days',
  }),
  FLOTILLA_EVENT_FEED_DAYS: setting(types.retentionDays(3650).default(14), 'worker', {
    about: 'How long events can be read with `GET /events?after=` and sent to webhooks; -1 = forever.',
    unit: 'days',
  }),
  FLOTILLA_WEBHOOK_PRIVATE_ADDRESSES: setting(types.boolean.default(false), 'API, worker', {
    about:
      'Whether webhooks may have private, loopback and link-local addresses. Administrators of accounts then reach whatever the worker reaches.',
  }),
  FLOTILLA_ACTIVITY_RETENTION_DAYS: setting(types.retentionDays(36_500).default(-1), 'worker', {
    about:
      'How long activities are kept after their end, each group as a whole; -1 = forever. The latest run of every profile stays, and so does what a computer was sent and has not acknowledged.',
    unit: 'days',
  }),
  FLOTILLA_UNKNOWN_KEYS: setting(types.oneOf('refuse', 'ignore').default('refuse'), 'API', {
    about:
      'What happens to parameters and fields that an operation does not know: 400, or the response header `Flotilla-Ignored` names them.',
  }),
  FLOTILLA_OPERATION_EXPIRY_DAYS: setting(types.decimal(0.00001, 3650).default(30), 'worker', {
    about: 'How long after its delivery an operation without a result fails.',
    unit: 'days',
  }),
  FLOTILLA_SCRIPT_PROFILE_MAX_COMPUTERS: setting(types.wholeNumber(1, 100_000).default(5000), 'API, worker', {
    about: 'Computers of one run of a script profile; those with the lowest ids are taken.',
    unit: 'computers',
  }),
  FLOTILLA_SCRIPT_PROFILE_MAX_PROFILES: setting(types.wholeNumber(0, 100_000).default(100), 'API', {
    about: 'Script profiles of an account, without the archived ones.',
    unit: 'profiles',
  }),
  FLOTILLA_SCRIPT_PROFILE_MIN_INTERVAL: setting(types.wholeNumber(1, 527_040).default(60), 'API', {
    about: 'Shortest time between two runs of a recurring script profile.',
    unit: 'minutes',
  }),
  FLOTILLA_API_RATE_LIMIT: setting(optional(types.decimal(0, 1_000_000)), 'API', {
    about:
      'Requests that one process takes per token, or per address where a call needs no token; 0 = no limit. Beyond it: 429 with `Retry-After`.',
    unit: 'per second',
    default: '0 under npm start, else 100',
  }),
  FLOTILLA_API_RATE_BURST: setting(optional(types.wholeNumber(1, 10_000_000)), 'API', {
    about: 'Requests that may come at once.',
    unit: 'requests',
    default: 'twice the rate',
  }),
  FLOTILLA_ENROLMENT_RATE_LIMIT: setting(optional(types.decimal(0, 1_000_000)), 'gateway', {
    about:
      'Registrations of computers that one process takes from one address, and of one account; 0 = no limit. Agents try again by themselves.',
    unit: 'per second',
    default: '0 under npm start, else 10',
  }),
  FLOTILLA_ENROLMENT_RATE_BURST: setting(optional(types.wholeNumber(1, 10_000_000)), 'gateway', {
    about: 'Registrations that may come at once.',
    unit: 'registrations',
    default: 'ten times the rate',
  }),
  FLOTILLA_HASH_ID_DATABASE_SIZE: setting(types.wholeNumber(0, 64).default(16), 'worker', {
    about:
      'Largest file of hashes and ids of packages that new computers of a release download before they request single ids; 70,000 packages are 4.1 MiB. 0 = none.',
    unit: 'MiB',
  }),
  FLOTILLA_FAST_AGENTS: setting(types.wholeNumber(0, 100_000).default(1000), 'gateway', {
    about:
      'How many computers at a time ping and exchange every 10 seconds because they have work; only those of accounts with `agent_intervals`. 0 = none.',
    unit: 'computers',
  }),
  FLOTILLA_API_MAX_WAITING: setting(types.wholeNumber(2, 1_000_000).default(1000), 'API', {
    about:
      'Calls that wait for their turn in one process, half of them of one account. Beyond it: 503 with `Retry-After`.',
    unit: 'calls',
  }),
  FLOTILLA_SINGLE_BATCH_LIMIT: setting(types.wholeNumber(0, 500).default(25), 'API, worker', {
    about: 'Groups of up to this size get one workflow per computer.',
    formerName: 'FLOTILLA_SINGLE_LANE_LIMIT',
    unit: 'computers',
  }),
  FLOTILLA_BATCH_MIN_SIZE: setting(types.wholeNumber(1, 100_000).default(500), 'API, worker', {
    about: 'Minimum size of a batch in larger groups.',
    formerName: 'FLOTILLA_LANE_MIN_SIZE',
    unit: 'computers',
  }),
  FLOTILLA_BATCH_MAX_SIZE: setting(types.wholeNumber(1, 100_000).default(5000), 'API, worker', {
    about: 'Maximum size of a batch; exceeded where a group would have over 1,000 batches.',
    formerName: 'FLOTILLA_LANE_MAX_SIZE',
    unit: 'computers',
  }),
  FLOTILLA_WAKE_UP_MIN_MS: setting(types.wholeNumber(0, 60_000).default(500), 'worker', {
    about: 'Shortest time between two wake-ups of a large batch.',
    formerName: 'FLOTILLA_NUDGE_MIN_MS',
    unit: 'milliseconds',
  }),
  FLOTILLA_WAKE_UP_MAX_MS: setting(types.wholeNumber(0, 600_000).default(5000), 'worker', {
    about:
      'Longest time between two wake-ups. It grows towards this with the age of the batch and with the number of large batches in progress in its account.',
    formerName: 'FLOTILLA_NUDGE_MAX_MS',
    unit: 'milliseconds',
  }),
};

export const SECTIONS = {
  Addresses: 'FLOTILLA_HOST',
  Data: 'FLOTILLA_DATA_DIR',
  Temporal: 'FLOTILLA_TEMPORAL_ADDRESS',
  'Secrets and mail': 'FLOTILLA_JWT_SECRET',
  'Accounts and logins': 'FLOTILLA_DEPLOYMENT',
  Behaviour: 'FLOTILLA_SIMULATED_COMPUTERS',
  'Limits and batches': 'FLOTILLA_API_RATE_LIMIT',
} as const;
